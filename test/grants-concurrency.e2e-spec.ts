import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { PoolClient } from 'pg';
import { GrantsFixture, toolsOf } from './support/grants-fixture.js';
import { admin } from './support/author.js';

const TOOLS = Array.from({ length: 20 }, (_, index) => `tool-${index}`);

let fixture: GrantsFixture;
let other: PoolClient;
let agent: string;

beforeAll(async () => {
  fixture = await GrantsFixture.open();
  other = await fixture.otherPool().connect();
  await fixture.connection('files', TOOLS);
});

afterAll(async () => {
  other.release();
  await fixture.close();
});

beforeEach(async () => {
  agent = (await fixture.agents.create(admin, { name: 'Demo' })).id;
});

afterEach(() => other.query('rollback'));

/** Holds the agent's lock as an admission in progress does, until `other` ends its transaction. */
async function holdAdmission(): Promise<void> {
  await other.query('begin');
  await other.query('select pg_advisory_xact_lock_shared(2, hashtext($1))', [agent]);
}

/** Resolves when this many transactions of this database wait for a lock. */
async function waiting(count: number): Promise<void> {
  const deadline = performance.now() + 4_000;
  for (;;) {
    const { rows } = await other.query<{ waiting: number }>(
      `select count(*)::int as waiting from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rows[0]?.waiting === count) return;
    if (performance.now() > deadline) throw new Error(`${rows[0]?.waiting} transactions wait, not ${count}`);
  }
}

describe('changes at the same time', () => {
  it('lose none of 20 additions', async () => {
    const sets = await Promise.all(
      TOOLS.map((tool) => fixture.grants.patch(admin, agent, { add: toolsOf('files', tool) })),
    );
    expect((await fixture.held(agent)).toSorted()).toEqual(TOOLS.map((tool) => `files/${tool}`).toSorted());
    expect(sets.map((set) => set.revision).toSorted((a, b) => a - b)).toEqual(TOOLS.map((_, index) => index + 1));
    for (const set of sets) expect(set.tools).toHaveLength(set.revision);
  });

  it('let one of two win that were made for the same revision', async () => {
    await holdAdmission();
    const put = fixture.grants.replace(admin, agent, { tools: toolsOf('files', 'tool-1') }, '"0"');
    const patch = fixture.grants.patch(admin, agent, { add: toolsOf('files', 'tool-2') }, '"0"');
    const outcomes = Promise.allSettled([put, patch]);
    await waiting(2);
    await other.query('commit');
    const [first, second] = await outcomes;
    expect([first.status, second.status].toSorted()).toEqual(['fulfilled', 'rejected']);
    expect([first, second].find((outcome) => outcome.status === 'rejected')).toMatchObject({
      reason: { code: 'stale_revision' },
    });
    expect(await fixture.held(agent)).toEqual([first.status === 'fulfilled' ? 'files/tool-1' : 'files/tool-2']);
    expect((await fixture.grants.read(agent)).revision).toBe(1);
  });

  it('apply to several agents in crossing order without a deadlock', async () => {
    const second = (await fixture.agents.create(admin, { name: 'Second' })).id;
    const changes = TOOLS.map((tool, index) =>
      fixture.grants.apply(admin, {
        agentIds: index % 2 === 0 ? [agent, second] : [second, agent],
        add: toolsOf('files', tool),
      }),
    );
    await Promise.all(changes);
    expect(await fixture.held(agent)).toHaveLength(TOOLS.length);
    expect(await fixture.held(second)).toHaveLength(TOOLS.length);
  });

  it('do not deadlock with the deletion of a connection', async () => {
    for (const id of ['gate', 'leaving']) await fixture.connection(id, TOOLS);
    await fixture.grants.replace(admin, agent, { tools: toolsOf('leaving', 'tool-1') });
    await other.query('begin');
    await other.query(`select from providers where id = 'gate' for update`);
    const change = fixture.grants.patch(admin, agent, {
      add: [...toolsOf('gate', 'tool-1'), ...toolsOf('leaving', 'tool-2')],
      remove: toolsOf('leaving', 'tool-1'),
    });
    const outcome = Promise.allSettled([change]);
    await waiting(1);
    await fixture.database.pool.query(
      `set statement_timeout = '3s'; delete from providers where id = 'leaving'; reset all`,
    );
    await other.query('commit');
    expect(await outcome).toMatchObject([{ status: 'rejected', reason: { code: 'grant_unknown_connection' } }]);
  });

  it('wait for the deletion of a connection before they take grants there away', async () => {
    await fixture.connection('going', TOOLS);
    await fixture.grants.replace(admin, agent, { tools: toolsOf('going', ...TOOLS) });
    await other.query('begin');
    await other.query(`select from providers where id = 'going' for update`);
    const changes = Promise.allSettled([
      fixture.grants.apply(admin, { agentIds: [agent], remove: toolsOf('going', 'tool-1') }),
    ]);
    await waiting(1);
    await other.query(`delete from providers where id = 'going'`);
    await other.query('commit');
    expect(await changes).toMatchObject([{ status: 'fulfilled', value: { items: [{ removed: 0 }] } }]);
    expect(await fixture.held(agent)).toEqual([]);
  });

  it('survive that their connection and agent are deleted meanwhile', async () => {
    for (let round = 0; round < 15; round += 1) {
      const connection = `${agent}-round-${round}`;
      const victim = (await fixture.agents.create(admin, { name: 'Victim' })).id;
      await fixture.connection(connection, TOOLS);
      for (const id of [agent, victim])
        await fixture.grants.replace(admin, id, { tools: toolsOf(connection, ...TOOLS) });
      const outcomes = await Promise.allSettled([
        fixture.grants.replace(admin, agent, { tools: toolsOf(connection, ...TOOLS.slice(10)) }),
        fixture.grants.patch(admin, victim, { remove: toolsOf(connection, ...TOOLS.toReversed()) }),
        other.query('delete from providers where id = $1', [connection]),
        fixture.agents.delete(admin, victim),
        fixture.grants.patch(admin, agent, {
          remove: toolsOf(connection, 'tool-1'),
          add: toolsOf(connection, 'tool-2'),
        }),
      ]);
      for (const outcome of outcomes) {
        if (outcome.status === 'fulfilled') continue;
        expect(outcome.reason).toMatchObject({ code: expect.stringMatching(/^(agent_not_found|grant_unknown_\w+)$/) });
      }
      expect(await fixture.held(agent)).toEqual([]);
    }
  });
});

describe('while a call is being admitted', () => {
  it('a change waits, and is not seen before', async () => {
    await fixture.grants.replace(admin, agent, { tools: toolsOf('files', 'tool-1') });
    await holdAdmission();
    const change = fixture.grants.replace(admin, agent, { tools: [] });
    await waiting(1);
    expect(await fixture.held(agent)).toEqual(['files/tool-1']);
    await other.query('commit');
    expect((await change).tools).toEqual([]);
  });

  it('a change that waited 5 s is given up, and nothing has changed', async () => {
    await fixture.grants.replace(admin, agent, { tools: toolsOf('files', 'tool-1') });
    const announced = fixture.announced;
    const before = await fixture.grants.read(agent);
    await holdAdmission();
    const started = performance.now();
    const timeout = { code: 'revocation_timeout', status: 503, retryAfterSeconds: 1 };
    await Promise.all([
      expect(fixture.grants.replace(admin, agent, { tools: [] })).rejects.toMatchObject(timeout),
      expect(fixture.grants.patch(admin, agent, { add: toolsOf('files', 'tool-2') })).rejects.toMatchObject(timeout),
      expect(
        fixture.grants.apply(admin, { agentIds: [agent], remove: toolsOf('files', 'tool-1') }),
      ).rejects.toMatchObject(timeout),
      expect(fixture.agents.update(admin, agent, { enabled: false, name: 'Changed' })).rejects.toMatchObject(timeout),
      expect(fixture.agents.delete(admin, agent)).rejects.toMatchObject(timeout),
    ]);
    const waited = performance.now() - started;
    expect(waited).toBeGreaterThan(4_900);
    expect(waited).toBeLessThan(9_000);
    await other.query('commit');
    expect(await fixture.grants.read(agent)).toEqual(before);
    expect(await fixture.agents.require(agent)).toMatchObject({ enabled: true, name: 'Demo' });
    expect(fixture.announced).toBe(announced);
  });

  it('renaming and enabling do not wait', async () => {
    await holdAdmission();
    expect(await fixture.agents.update(admin, agent, { name: 'Other', enabled: true })).toMatchObject({
      name: 'Other',
    });
  });
});
