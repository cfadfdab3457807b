import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Caller, PatientProvider } from './cancellation.bench.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';
import { startWarren, type TestWarren } from './support/warren.js';

describe.each([
  ['told by LISTEN', {}],
  ['behind a transaction pooler, by polling only', { WARREN_DB_POOLER: 'transaction' }],
])('a cancellation that reaches another replica, %s', (_how, more) => {
  let database: TestDatabase;
  let here: TestWarren;
  let there: TestWarren;
  let provider: PatientProvider;
  let agents = 0;
  let number = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    const environment = { WARREN_RATE_REQUESTS: '1000000', LOG_LEVEL: 'warn', ...more };
    here = await startWarren({ database, environment });
    there = await startWarren({ database, adminKey: here.adminKey, environment });
    provider = await PatientProvider.connect(here.api, 'patient', 'stdio-legacy');
  });

  afterAll(async () => {
    await there.stop();
    await here.stop();
    await provider.stop();
    await database.drop();
  });

  const createCaller = (): Promise<Caller> => Caller.create(here.api, `agent-${(agents += 1)}`, [provider]);

  it.each([7, '7', 'a\0b \ud800 \u{1f600}', 'x'.repeat(100_000)])('cancels the call: id %#', async (requestId) => {
    const caller = await createCaller();
    const n = (number += 1);
    const running = caller.overNotifiedMcp(provider, 'hold', { n }, requestId);
    const { id } = await provider.arrived(n);
    await caller.at(there).sendCancel(requestId);
    const told = await provider.seen((entry) => entry.event === 'cancelled' && entry.n === n, `${n} cancelled`);
    expect(told.requestId).toBe(id);
    expect(await running.answer).toBeUndefined();
    expect(await caller.receipt(provider, 'mcp_call_cancelled')).toMatchObject({ sent: 'maybe' });
  });

  it('leaves alone what it does not name, and calls that come after it', async () => {
    const [caller, stranger] = [await createCaller(), await createCaller()];
    const [first, second, last] = [(number += 1), (number += 1), (number += 1)];
    // clients without a session id may use an id again
    await caller.at(there).sendCancel('again', '');
    const anonymous = caller.withoutSession();
    const again = anonymous.overNotifiedMcp(provider, 'hold', { n: first }, 'again');
    const running = caller.overNotifiedMcp(provider, 'hold', { n: second }, 'mine');
    const ended = caller.overNotifiedMcp(provider, 'hold', { n: last }, 'ended');
    for (const n of [first, second, last]) await provider.arrived(n);
    await caller.at(there).sendCancel('other');
    await caller.at(there).sendCancel('mine', 'another-session');
    await stranger.at(there).sendCancel('mine', caller.session);
    // seen carried out, so those before it were looked at
    await caller.at(there).sendCancel('ended');
    await provider.seen((entry) => entry.event === 'cancelled' && entry.n === last, `${last} cancelled`);
    await ended.answer;
    for (const n of [first, second]) await caller.call(provider, 'release', { n });
    expect((await again.answer).result.content.at(-1).text).toBe(`held ${first}`);
    expect((await running.answer).result.content.at(-1).text).toBe(`held ${second}`);
  });
});
