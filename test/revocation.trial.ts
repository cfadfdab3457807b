import { setTimeout as delay } from 'node:timers/promises';
import type { Arrival, Mark } from './revocation.arrival-log.js';
import { type RevocationBench } from './revocation.bench.js';
import { Callers } from './revocation.callers.js';
import type { Prepare, Prepared } from './revocation.kinds.js';

/** Sums over trials. */
export interface Tally {
  revocations: number;
  calls: number;
  arrivals: number;
  refusedAfter: number;
  violations: string[];
}

interface TrialOptions {
  /** Callers through each Warren on each connection. */
  callers?: readonly [number, number];
  /** Which Warren is asked for the change; by default, by chance. */
  through?: 0 | 1;
  /** What happens right before the change is asked for. */
  before?: () => Promise<void>;
  /** What happens once the change is acknowledged and marked. */
  after?: () => void;
  /** False where a database connection may be lost with its call row, so that only the marks can judge. */
  rowsAreKept?: boolean;
}

/** The longest a revocation is put off once all callers are running, milliseconds. */
const JITTER_MS = 10;

export const emptyTally = (): Tally => ({ revocations: 0, calls: 0, arrivals: 0, refusedAfter: 0, violations: [] });

/**
 * One revocation under load, judged by order alone, without comparing clocks.
 *
 * A revocation is acknowledged when its answer is here. Only then (a) the admitted calls are read from the database and
 * (b) every provider process is asked for a mark. The promise is that a call without permission does not begin to be
 * written after the acknowledgement, hence:
 * - A call row becomes visible when its admission commits, which is after the write; the revocation waited for that. So a
 *   call that arrives, at any time, but is not among (a) was admitted by a transaction the revocation did not wait for.
 * - A call that was written before the acknowledgement was in the pipe or socket before the mark was asked for, and is
 *   noted before it. So one that is noted after the mark, by the same process, was written late; and so was one that is
 *   noted by a process that had not started yet.
 * A token that expires is acknowledged by nobody: there PostgreSQL's clock, read until it is past, takes that place, and
 * (a) are the calls admitted before that moment by the same clock.
 */
export async function runTrial(
  bench: RevocationBench,
  prepare: Prepare,
  tally: Tally,
  options: TrialOptions = {},
): Promise<void> {
  const { callers: [first, second] = [2, 2], through, before, after, rowsAreKept = true } = options;
  const prepared = await prepare(bench, tally.revocations);
  const callers = new Callers(bench, [
    ...callersThrough(bench, 0, first, prepared),
    ...callersThrough(bench, 1, second, prepared),
  ]);
  const arrivalsBefore = bench.log.arrivals.length;
  const since = await bench.databaseTime(-60_000);
  await callers.running;
  await delay(bench.random() * JITTER_MS);
  const warren = bench.warrens[through ?? (bench.random() < 0.5 ? 0 : 1)];
  await before?.();
  await Promise.race([prepared.revoke(warren.api), callers.ended]);
  callers.acknowledge();
  const [admittedAtOnce, mark] = await Promise.all([admittedNumbers(bench, since), bench.log.mark()]);
  after?.();
  await callers.ended;
  // all calls are answered by now; this mark lets those be noted that were cancelled on their way
  await bench.log.mark();
  const { expiresAt } = prepared;
  const admitted = expiresAt === undefined ? admittedAtOnce : await admittedNumbers(bench, since, expiresAt);
  const arrivals = bench.log.arrivals.slice(arrivalsBefore).filter(({ number }) => callers.numbers.has(number));
  tally.violations.push(...violationsOf(arrivals, rowsAreKept ? admitted : undefined, mark));
  if (callers.answeredAfter > 0)
    tally.violations.push(`${callers.answeredAfter} calls asked for afterwards were answered`);
  tally.revocations += 1;
  tally.calls += callers.numbers.size;
  tally.arrivals += arrivals.length;
  tally.refusedAfter += callers.refusedAfter;
  await prepared.restore?.();
}

function callersThrough(bench: RevocationBench, index: 0 | 1, count: number, { token, connections }: Prepared) {
  const api = bench.warrens[index].api.as(token);
  return connections.flatMap((connection) => Array.from({ length: count }, () => ({ api, connection })));
}

/** Of the calls whose admission is committed, the numbers; with `until`, only of those admitted by then. */
export async function admittedNumbers(bench: RevocationBench, since: Date, until?: Date): Promise<Set<number>> {
  const { rows } = await bench.pool.query<{ number: number }>(
    `select substring(argument_preview from '"n":(\\d+)')::integer as number from calls
     where started_at > $1 and admitted_at is not null and ($2::timestamptz is null or admitted_at <= $2)`,
    [since, until ?? null],
  );
  return new Set(rows.map(({ number }) => number));
}

/** What of these arrivals of a subject without permission breaks the promise, in words. */
function violationsOf(arrivals: readonly Arrival[], admitted: ReadonlySet<number> | undefined, mark: Mark): string[] {
  return arrivals.flatMap(({ number, process, position }) => {
    const problems: string[] = [];
    if (admitted?.has(number) === false) problems.push(`call ${number} was not admitted before the revocation`);
    const marked = mark.positions.get(process);
    if (!mark.known.has(process)) problems.push(`call ${number} reached a process started afterwards`);
    else if (marked !== undefined && position > marked) problems.push(`call ${number} was written afterwards`);
    return problems;
  });
}
