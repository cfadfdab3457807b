import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rmSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../src/embedded-postgres.js';
import { Api, type ApiAnswer } from './support/api.js';
import { eventually } from './support/eventually.js';
import { createAgent, overStdio } from './support/real-providers.js';
import { temporaryDataDirectory } from './support/temporary-data-directory.js';
import { startWarren, type TestWarren } from './support/warren.js';

/** Warren is to be back by itself within this, milliseconds. */
const RECOVERY_MS = 5_000;

describe('while its database is away', () => {
  const root = temporaryDataDirectory();
  let database: EmbeddedPostgres;
  let warren: TestWarren;
  let agent: Api;

  const startDatabase = (): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres(path.join(root, 'data'), { fsync: 'off' });

  beforeAll(async () => {
    database = await startDatabase();
    const { connectionString } = database;
    const lent = { connectionString, pool: unused, drop: unused };
    warren = await startWarren({ database: lent });
    const settings = { ...overStdio('everything', 'everything', 'stdio'), lifecycle: 'keep_alive' };
    await warren.api.expect(201, 'POST', '/api/connections?discover=true', settings);
    agent = await createAgent(warren.api, 'demo', { everything: ['get-sum'] });
    expect((await add()).body).toMatchObject({ ok: true });
  });

  afterAll(async () => {
    expect(await warren.stop()).toBe(0);
    await database.stop();
    rmSync(root, { recursive: true, force: true });
  });

  const add = (): Promise<ApiAnswer> =>
    agent.post('/api/agents/demo/menu/mcp_call', {
      provider: 'everything',
      tool: 'get-sum',
      arguments: { a: 1, b: 2 },
    });

  it('lives, is not ready, and answers 503; then recovers by itself', async () => {
    await database.stop();
    expect(await warren.api.get('/health/live')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await warren.api.get('/health/ready')).toMatchObject({ status: 503, body: { failing: 'database' } });
    const refused = await warren.api.get('/api/connections');
    expect(refused).toMatchObject({ status: 503, body: { code: 'database_unavailable', status: 503 } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('content-type')).toContain('application/problem+json');
    // fails closed: without the database nobody knows what the agent may do
    expect(await add()).toMatchObject({ status: 503, body: { code: 'database_unavailable' } });
    expect(await warren.api.as('wop_none').get('/api/connections')).toMatchObject({ status: 401 });

    database = await startDatabase();
    await eventually(async () => {
      expect(await warren.api.get('/health/ready')).toMatchObject({ status: 200 });
      expect((await add()).body).toMatchObject({ ok: true, content: [{ text: 'The sum of 1 and 2 is 3.' }] });
    }, RECOVERY_MS);
    expect((await warren.api.get('/api/connections')).body.items).toMatchObject([
      { id: 'everything', live: { state: 'connected' } },
    ]);
    // the call that was refused left no receipt of a call that ran
    expect((await warren.api.get('/api/calls?agentId=demo&ok=true')).body.items.length).toBeGreaterThanOrEqual(2);
  });

  it('survives dropped backends', async () => {
    await warren.api.expect(200, 'GET', '/health/ready');
    const [, ...answers] = await Promise.all([dropBackends(database), ...Array.from({ length: 20 }, add)]);
    const outcomes = answers.map(({ status, body }) =>
      status === 200 && body.ok ? 'ok' : (body.code ?? body.error.code),
    );
    // each is told what became of it
    expect(['ok', 'database_unavailable', 'mcp_call_interrupted', 'busy']).toEqual(expect.arrayContaining(outcomes));
    await eventually(async () => {
      expect((await add()).body).toMatchObject({ ok: true });
    }, RECOVERY_MS);
    expect(warren.process.exitCode).toBeNull();
  });
});

async function dropBackends({ connectionString }: EmbeddedPostgres): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = $1',
    ['client backend'],
  );
  await client.end();
}

function unused(): never {
  throw new Error('this database is the test file’s own');
}
