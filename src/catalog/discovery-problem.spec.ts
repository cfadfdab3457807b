import { describe, expect, it } from '@jest/globals';
import type { ConnectionLaunch } from '../connections/connection.launch.js';
import { toProviderProblem } from '../connections/provider-problem.js';
import { SessionError } from '../connections/session/session-error.js';
import { Logger } from '../logger.js';
import { OwnSecrets } from '../own-secrets.js';
import { Redactor } from '../redactor.js';
import { toDiscoveryProblem } from './discovery-problem.js';

const SECRET = 'sk-live-"quoted"-0123456789';
const redactor = new Redactor([SECRET]);

/** What the log shows of an error. */
function logged(error: unknown): string {
  let log = '';
  new Logger('debug', new OwnSecrets([]), (line) => (log += line)).error({ error }, 'failed');
  return log;
}

describe('what is told of a provider that echoes its secret', () => {
  const said = `refused the token ${SECRET}`;
  const errors = [
    new SessionError('unreachable', said, { stderrTail: said, cause: new Error(said) }),
    new SessionError('timeout', said, { cause: new Error(said) }),
    new SessionError('provider_error', said, { provider: { code: 1, message: said } }),
    new Error(said),
  ];

  it.each(errors)('holds no secret in the log: %#', (error) => {
    const launch = { redactor, transport: 'stdio' } as ConnectionLaunch;
    for (const problem of [toDiscoveryProblem(error, launch), toProviderProblem(error, redactor)]) {
      expect(logged(problem)).toContain('refused the token [redacted]');
      expect(redactor.text(logged(problem)).count).toBe(0);
    }
  });
});
