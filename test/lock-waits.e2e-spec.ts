import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { PoolClient } from 'pg';
import { admin } from './support/author.js';
import { GrantsFixture, toolsOf } from './support/grants-fixture.js';

/** Far below Warren's own, so that the test sees its end. */
const LOCK_WAIT_MS = 200;

let fixture: GrantsFixture;
let other: PoolClient;
let agent: string;

beforeAll(async () => {
  fixture = await GrantsFixture.open(LOCK_WAIT_MS);
  other = await fixture.otherPool().connect();
  await fixture.connection('files', ['read']);
  agent = (await fixture.agents.create(admin, { name: 'Demo' })).id;
});

afterEach(() => other.query('rollback'));

afterAll(async () => {
  other.release();
  await fixture.close();
});

/** What a change may leave behind. */
async function contents(): Promise<unknown[]> {
  const { rows } = await other.query(
    `select (select jsonb_agg(to_jsonb(agents) order by id) from agents) as agents,
      (select count(*) from grants) as grants, (select count(*) from credentials) as credentials,
      (select count(*) from audit_log) as entries`,
  );
  return rows;
}

/** What holds the log, or the agent, in a session of somebody else. */
const holders = {
  'the audit log': 'select pg_advisory_xact_lock(4, 0)',
  'the agent': 'select from agents for update',
};

const changes: Record<string, () => Promise<unknown>> = {
  'an update of the agent': () => fixture.agents.update(admin, agent, { name: 'Other' }),
  'one that takes permission away': () => fixture.agents.update(admin, agent, { enabled: false }),
  'a grant': () => fixture.grants.patch(admin, agent, { add: toolsOf('files', 'read') }),
  'a token': () => fixture.tokens.create(admin, agent, {}),
};

describe.each(Object.entries(holders))('while another session holds %s', (_, hold) => {
  it.each(Object.entries(changes))('%s is refused as busy, and nothing has changed', async (_name, change) => {
    const before = await contents();
    await other.query('begin');
    await other.query(hold);
    await expect(change()).rejects.toMatchObject({ code: 'busy', status: 503, retryAfterSeconds: 1 });
    await other.query('rollback');
    expect(await contents()).toEqual(before);
  });

  it('the same changes are made when it lets go', async () => {
    const fresh = (await fixture.agents.create(admin, { name: 'Fresh' })).id;
    await other.query('begin');
    await other.query(hold);
    const refused = fixture.agents.update(admin, fresh, { name: 'Later' });
    await expect(refused).rejects.toMatchObject({ code: 'busy' });
    await other.query('rollback');
    await expect(fixture.agents.update(admin, fresh, { name: 'Later' })).resolves.toMatchObject({ name: 'Later' });
  });
});
