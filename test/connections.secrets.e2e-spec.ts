import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { admin } from './support/author.js';
import {
  type ConnectionsBench,
  type ConnectionsRoom,
  http,
  openConnectionsBench,
  OWN_SECRET,
  stdio,
} from './support/connections-bench.js';

const API_KEY = 'sk-live-0123456789abcdef';

let bench: ConnectionsBench;
let changes: ConnectionsRoom['changes'];
let connections: ConnectionsRoom['connections'];

beforeAll(async () => {
  bench = await openConnectionsBench();
});

afterAll(() => bench.close());

beforeEach(async () => {
  await bench.empty();
  ({ changes, connections } = bench.room());
});

describe('secrets', () => {
  const secretful = http('s', {
    id: 's',
    apiKey: API_KEY,
    headers: [{ name: 'X-Trace', value: 'trace-secret-1' }],
    queryParameters: [{ name: 'sig', value: 'a b&c=signature' }],
  });

  it('reach the launch, and neither the answer nor the database', async () => {
    const record = await changes.create(admin, secretful);
    const launch = await connections.launchOf('s');
    expect(launch?.endpoint).toEqual({
      transport: 'http',
      url: 'https://a.example/mcp?x=1&sig=a%20b%26c%3Dsignature',
      headers: { Authorization: `Bearer ${API_KEY}`, 'X-Trace': 'trace-secret-1' },
    });
    const answer = connections.present(record);
    expect(answer).toMatchObject({
      apiKeyConfigured: true,
      headers: [{ name: 'X-Trace', configured: true }],
      queryParameters: [{ name: 'sig', configured: true }],
      warnings: [],
    });
    const { rows } = await bench.database.pool.query(
      `select p, c, s from providers p join connections c using (id) join connection_secrets s on s.connection_id = p.id`,
    );
    expect(rows).toHaveLength(3);
    for (const text of [JSON.stringify(answer), JSON.stringify(rows), JSON.stringify(await connections.export())]) {
      expect(text).not.toMatch(/sk-live|trace-secret|signature/);
    }
  });

  it('are masked together with Warren’s own, also after a change', async () => {
    await changes.create(admin, secretful);
    const before = await connections.launchOf('s');
    expect(before?.redactor.text(`${API_KEY} trace-secret-1 ${OWN_SECRET}`).count).toBe(3);
    expect((await connections.launchOf('s'))?.redactor).toBe(before?.redactor);
    await changes.change(admin, 's', { apiKey: 'sk-live-another-key' });
    const after = await connections.launchOf('s');
    expect(after?.redactor.text('sk-live-another-key trace-secret-1').count).toBe(2);
  });

  it('of a connection made again under its id are not taken for the old ones', async () => {
    await changes.create(admin, secretful);
    const before = await connections.launchOf('s');
    await changes.delete(admin, 's');
    await changes.create(admin, { ...secretful, apiKey: 'sk-live-another-key' });
    const after = await connections.launchOf('s');
    expect(after?.launchRevision).not.toBe(before?.launchRevision);
    expect(after?.redactor.text('sk-live-another-key').count).toBe(1);
  });

  it('of stdio reach environment and arguments, follow a change and keep their places', async () => {
    const body = stdio('p', {
      id: 'p',
      args: ['--token', { secret: 'token', value: 'token-value-1' }, 'x'],
      environmentVariables: [
        { name: 'A', value: 'line one\nline two' },
        { name: 'EMPTY', value: '' },
      ],
    });
    await changes.create(admin, body);
    expect((await connections.launchOf('p'))?.endpoint).toEqual({
      transport: 'stdio',
      command: 'node',
      args: ['--token', 'token-value-1', 'x'],
      cwd: null,
      environment: { A: 'line one\nline two', EMPTY: '' },
    });
    const record = await changes.change(admin, 'p', {
      args: [{ secret: 'token' }, { secret: 'two', value: '2' }],
      environmentVariables: [{ name: 'B', value: 'b' }, { name: 'A' }],
    });
    expect((await connections.launchOf('p'))?.endpoint).toMatchObject({
      args: ['token-value-1', '2'],
      environment: { A: 'line one\nline two', B: 'b' },
    });
    const answer = connections.present(record);
    expect(answer.environmentVariables.map(({ name }) => name)).toEqual(['B', 'A']);
    expect(answer.args).toEqual([
      { secret: 'token', configured: true },
      { secret: 'two', configured: true },
    ]);
    expect(answer.warnings.map(({ field, code }) => `${field} ${code}`)).toEqual([
      'lifecycle stdio_ephemeral_slow',
      'args[1].value secret_too_short_to_redact',
      'environmentVariables[0].value secret_too_short_to_redact',
    ]);
  });

  it('moved to another row are refused', async () => {
    await changes.create(admin, secretful);
    await changes.create(admin, http('t', { id: 't', apiKey: 'sk-live-of-another' }));
    await bench.database.pool.query(
      `update connection_secrets set sealed = (select sealed from connection_secrets where connection_id = 's' and kind = 'api_key')
       where connection_id = 't'`,
    );
    await expect(connections.launchOf('t')).rejects.toThrow(/damaged|another record/);
  });
});
