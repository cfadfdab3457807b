import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { CONNECTIONS, type RevocationBench, startRevocationBench, WORKER } from './revocation.bench.js';
import { callTool } from './revocation.callers.js';
import { replacedGrants } from './revocation.kinds.js';
import { admittedNumbers, emptyTally, runTrial } from './revocation.trial.js';

/** A revocation waits this long for admissions in progress, milliseconds. */
const REVOCATION_WAIT_MS = 5_000;
const WAITS_WITHIN_MS = 10_000;
/** So often the calls admitted are the same, so far apart (milliseconds), before the pipe counts as full. */
const STEADY_LOOKS = 4;
const LOOK_MS = 200;
const PAUSES = Math.max(2, Math.ceil(Number(process.env['WARREN_VERIFY_COUNT'] ?? 15) / 20));

describe('revocation while an admission is stuck', () => {
  let bench: RevocationBench;

  beforeAll(async () => {
    bench = await startRevocationBench();
  });

  afterAll(() => bench.stop());

  it('answers 503 after 5 s, and nothing has changed', async () => {
    const { api, pool } = bench;
    const { id, token } = await bench.createToken();
    const agent = `/api/agents/${WORKER}`;
    const before = await Promise.all([api.get(`${agent}/mcp-tools`), api.get(agent), api.get('/api/connections/line')]);
    const client = await pool.connect();
    try {
      await client.query('begin');
      await client.query(
        'select pg_advisory_xact_lock_shared(class, hashtext(id)) from unnest($1::integer[], $2::text[]) as held (class, id)',
        [
          [1, 2, 3],
          ['line', WORKER, id],
        ],
      );
      const asked = performance.now();
      const answers = await Promise.all([
        api.put(`${agent}/mcp-tools`, { tools: [] }),
        api.delete(`${agent}/tokens/${id}`),
        api.patch(agent, { enabled: false }),
        api.delete(agent),
        api.patch('/api/connections/line', { enabled: false }),
        api.patch('/api/connections/line', { denyTools: ['record'] }),
        api.delete('/api/connections/line'),
      ]);
      const took = performance.now() - asked;
      expect(answers.map(({ status, body }) => [status, body.code])).toEqual(
        answers.map(() => [503, 'revocation_timeout']),
      );
      expect(answers.map(({ headers }) => headers.get('retry-after'))).toEqual(answers.map(() => '1'));
      expect(took).toBeGreaterThan(REVOCATION_WAIT_MS - 100);
      expect(took).toBeLessThan(REVOCATION_WAIT_MS + 3_000);
    } finally {
      await client.query('rollback');
      client.release();
    }
    const after = await Promise.all([api.get(`${agent}/mcp-tools`), api.get(agent), api.get('/api/connections/line')]);
    expect(after.map(({ body }) => body)).toEqual(before.map(({ body }) => body));
    expect(await callTool(api.as(token), 'line', 'record', bench.nextNumber())).toBe('ok');
    await api.expect(204, 'DELETE', `${agent}/tokens/${id}`);
    expect(await callTool(api.as(token), 'line', 'record', bench.nextNumber())).toBe('unauthenticated');
  });

  it(
    'lets no late write through when a Warren is paused between admission and write',
    async () => {
      const { process: paused } = bench.warrens[1];
      const tally = emptyTally();
      const waits: number[] = [];
      let pausedAt = 0;
      try {
        while (tally.revocations < PAUSES) {
          await runTrial(bench, replacedGrants, tally, {
            callers: [1, 8],
            through: 0,
            // PostgreSQL ends the transaction of the paused process, and with it the call row
            rowsAreKept: false,
            before: async () => {
              do {
                paused.kill('SIGCONT');
                await delay(bench.random() * 10);
                paused.kill('SIGSTOP');
              } while (!(await holdsAdmission(bench)));
              pausedAt = performance.now();
            },
            after: () => {
              waits.push(performance.now() - pausedAt);
              paused.kill('SIGCONT');
            },
          });
        }
      } finally {
        paused.kill('SIGCONT');
      }
      process.stdout.write(`paused Warren: ${tally.revocations} revocations, ${waits.map(Math.round).join(', ')} ms\n`);
      expect(tally.violations).toEqual([]);
      expect(Math.max(...waits)).toBeLessThan(REVOCATION_WAIT_MS + 1_000);
      // the revocation did wait for the one that was paused
      expect(Math.max(...waits)).toBeGreaterThan(1_000);
    },
    60_000 + PAUSES * 15_000,
  );

  it.each(CONNECTIONS)('does not write a call whose caller left while it was being admitted: %s', async (provider) => {
    const { api, pool, log } = bench;
    const worker = api.as(await bench.workerToken());
    const number = bench.nextNumber();
    const leaving = new AbortController();
    const client = await pool.connect();
    try {
      await client.query('begin');
      await client.query('select pg_advisory_xact_lock(2, hashtext($1))', [WORKER]);
      const asked = fetch(new URL(`/api/agents/${WORKER}/menu/mcp_call`, worker.url), {
        method: 'POST',
        headers: { authorization: `Bearer ${worker.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ provider, tool: 'record', arguments: { n: number } }),
        signal: leaving.signal,
      });
      await admissionWaits(bench);
      leaving.abort();
      await expect(asked).rejects.toThrow('abort');
      await receiptOf(bench, number);
    } finally {
      await client.query('rollback');
      client.release();
    }
    // goes the same way, after it
    expect(await callTool(worker, provider, 'record', bench.nextNumber())).toBe('ok');
    await log.mark();
    expect(log.arrivals.filter((arrival) => arrival.number === number)).toEqual([]);
    expect(await receiptOf(bench, number)).toMatchObject({ code: 'mcp_call_cancelled', sent: 'no' });
  });

  it('lets no late write through when a provider does not read its input', async () => {
    const { api, log } = bench;
    const token = await bench.workerToken();
    const worker = api.as(token);
    const first = bench.nextNumber();
    expect(await callTool(worker, 'line', 'record', first)).toBe('ok');
    await log.read();
    const pid = log.arrivals.find(({ number }) => number === first)?.process;
    if (pid === undefined) throw new Error('the provider noted no call');
    const since = await bench.databaseTime(-1_000);
    process.kill(pid, 'SIGSTOP');
    const numbers = Array.from({ length: 60 }, () => bench.nextNumber());
    const padding = 'x'.repeat(8_000);
    const calls = Promise.all(numbers.map((number) => callTool(worker, 'line', 'record', number, { padding })));
    // When the calls admitted stay the same for a while, the pipe is full: a call that is not among them has not begun.
    let written = await admittedNumbers(bench, since);
    for (let same = 0; same < STEADY_LOOKS || written.size === 0;) {
      await delay(LOOK_MS);
      const now = await admittedNumbers(bench, since);
      same = now.size === written.size ? same + 1 : 0;
      written = now;
    }
    expect(written.size).toBeLessThan(numbers.length);
    const asked = performance.now();
    await api.expect(200, 'PUT', `/api/agents/${WORKER}/mcp-tools`, { tools: [] });
    expect(performance.now() - asked).toBeLessThan(REVOCATION_WAIT_MS);
    const admitted = await admittedNumbers(bench, since);
    try {
      process.kill(pid, 'SIGCONT');
    } catch {
      // ended, since it did not read
    }
    await calls;
    await log.mark();
    // Until the change is acknowledged a new session may take calls; the old process took none any more.
    const late = log.arrivals.filter(
      ({ number, process: by }) => numbers.includes(number) && !(by === pid ? written : admitted).has(number),
    );
    expect(late).toEqual([]);
    await api.expect(200, 'PUT', `/api/agents/${WORKER}/mcp-tools`, { tools: bench.grants() });
    expect(await callTool(worker, 'line', 'record', bench.nextNumber())).toBe('ok');
  });
});

/** The finished call of this number. */
async function receiptOf({ pool }: RevocationBench, number: number): Promise<unknown> {
  for (const deadline = performance.now() + WAITS_WITHIN_MS; performance.now() < deadline; await delay(20)) {
    const { rows } = await pool.query(
      `select code, sent from calls where state = 'finished' and argument_preview like $1`,
      [`{"n":${number}}`],
    );
    if (rows.length > 0) return rows[0];
  }
  throw new Error(`call ${number} has no receipt`);
}

/** Until an admission waits for a lock that is held against it. */
async function admissionWaits({ pool }: RevocationBench): Promise<void> {
  for (const deadline = performance.now() + WAITS_WITHIN_MS; performance.now() < deadline; await delay(20)) {
    const { rows } = await pool.query(
      `select from pg_locks where locktype = 'advisory' and not granted and mode = 'ShareLock'
         and database = (select oid from pg_database where datname = current_database())`,
    );
    if (rows.length > 0) return;
  }
  throw new Error('no admission waits for its locks');
}

/** Whether an admission lasts, as only that of a process that cannot go on does. */
async function holdsAdmission({ pool }: RevocationBench): Promise<boolean> {
  const holders = async (): Promise<number[]> => {
    const { rows } = await pool.query<{ pid: number }>(
      `select distinct pid from pg_locks join pg_stat_activity using (pid)
       where locktype = 'advisory' and granted and mode = 'ShareLock' and state = 'idle in transaction'
         and datname = current_database()`,
    );
    return rows.map(({ pid }) => pid);
  };
  const before = await holders();
  await delay(50);
  const still = await holders();
  return before.some((pid) => still.includes(pid));
}
