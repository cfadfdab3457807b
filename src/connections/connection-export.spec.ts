import { describe, expect, it } from '@jest/globals';
import { exportedServer } from './connection-export.js';
import type { ConnectionRecord, SecretMark } from './connection.record.js';
import { initialSettings } from './connection.settings.js';

const at = new Date(0);
const meta = { id: 'a', revision: 1, launchRevision: 1, era: null, catalog: null, lastKnown: null };
const mark = (kind: SecretMark['kind'], name: string): SecretMark => ({ kind, name, position: 0, flags: [] });
const record = (settings: ReturnType<typeof initialSettings>, secrets: SecretMark[]): ConnectionRecord => ({
  ...settings,
  ...meta,
  secrets,
  createdAt: at,
  updatedAt: at,
});

describe('exportedServer', () => {
  it('shows stdio with a placeholder for each secret', () => {
    const args = ['--token', { secret: 'api-token' }];
    const settings = initialSettings('n', 'stdio', { command: 'node', args, cwd: '/srv', enabled: false });
    expect(exportedServer(record(settings, [mark('environment', 'A'), mark('argument', 'api-token')]))).toEqual({
      type: 'stdio',
      command: 'node',
      args: ['--token', '${API_TOKEN}'],
      cwd: '/srv',
      env: { A: '${A}' },
      disabled: true,
    });
  });

  it('shows http without secret query parameters, and nothing that is empty', () => {
    const settings = initialSettings('n', 'http', { baseUrl: 'https://a.example/mcp?x=1' });
    const url = 'https://a.example/mcp?x=1';
    expect(exportedServer(record(settings, [mark('query_parameter', 'sig')]))).toEqual({ type: 'http', url });
    expect(exportedServer(record(settings, [mark('api_key', 'apiKey'), mark('header', 'X-Key')]))).toEqual({
      type: 'http',
      url,
      headers: { Authorization: 'Bearer ${API_KEY}', 'X-Key': '${X_KEY}' },
    });
  });
});
