import { describe, expect, it } from '@jest/globals';
import { Logger } from './logger.js';
import { maskedError } from './masked-error.js';
import { OwnSecrets } from './own-secrets.js';
import { Redactor } from './redactor.js';

const SECRET = 'sk-live-"quoted"-0123456789';
const redactor = new Redactor([SECRET]);

/** What the log shows of an error. */
function logged(error: unknown): string {
  let log = '';
  new Logger('debug', new OwnSecrets([]), (line) => (log += line)).error({ error }, 'failed');
  return log;
}

const held = (text: string): boolean => new Redactor([SECRET]).text(text).count > 0;

describe('a masked error', () => {
  it('holds no secret in its name, message, stack, code or causes', () => {
    const error = new Error(`a ${SECRET}`, { cause: new TypeError(Buffer.from(SECRET).toString('base64')) });
    error.name = SECRET;
    const masked = maskedError(Object.assign(error, { code: SECRET, data: SECRET }), redactor);
    expect(held(logged(error))).toBe(true);
    expect(held(logged(masked))).toBe(false);
    expect(masked).not.toHaveProperty('data');
    expect(masked).toMatchObject({ message: 'a [redacted]', cause: { name: 'TypeError' } });
  });

  it('keeps the code of a database error, and words for what is no error', () => {
    expect(maskedError(Object.assign(new Error('away'), { code: '57P01' }), redactor)).toHaveProperty('code', '57P01');
    expect(maskedError(`thrown ${SECRET}`, redactor).message).toBe('thrown [redacted]');
    expect(maskedError(undefined, redactor).message).toBe('undefined');
  });

  it('ends with causes in a circle', () => {
    const error = new Error('round');
    error.cause = error;
    expect(maskedError(error, redactor).message).toBe('round');
  });
});
