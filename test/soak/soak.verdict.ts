import type { Conduct } from './soak.conduct.js';
import type { Fault } from './soak.fault.js';
import type { Figures } from './soak.figures.js';
import type { SoakForm } from './soak.forms.js';
import type { ArrivalVerdict, Ledger } from './soak.ledger.js';
import { slopeOf } from './soak.trend.js';

/** One bound and what was measured. */
export interface Verdict {
  what: string;
  measured: number;
  /** At least so much, or at most. */
  least?: number;
  most?: number;
}

interface Evidence {
  form: SoakForm;
  faults: readonly Fault[];
  ledger: Ledger;
  arrivals: ArrivalVerdict;
  conduct: Conduct;
  /** Before the load, and when all was quiet after it. */
  before: Figures;
  after: Figures;
}

const MIB = 1024 * 1024;
/** Sockets and pipes are counted as descriptors, by which those of the database can be told. */
const COUNTED_AS_DESCRIPTORS = new Set(['PipeWrap', 'TCPSocketWrap']);

/** Timers that happen to run while one looks: of the pool's idle connections, and what is done once in a while. */
const PASSING_TIMERS = 5;

/** Every bound of the soak. */
export function verdicts({ form, faults, ledger, arrivals, conduct, before, after }: Evidence): Verdict[] {
  const { samples, fired } = conduct;
  const { bounds } = form;
  const warm = samples[0]?.rssBytes ?? 0;
  const growth = slopeOf(samples.map(({ at, heapBytes }) => ({ x: at, y: heapBytes }))) * bounds.heapGrowthMs;
  return [
    { what: 'calls answered by the warm process', measured: conduct.steadyAnswered, least: bounds.calls },
    { what: 'calls sent twice', measured: arrivals.sentTwice, most: 0 },
    { what: 'replies to the wrong caller', measured: ledger.wrongReplies, most: 0 },
    { what: 'failures no fault explains', measured: ledger.unforeseen, most: 0 },
    { what: 'answers as run of calls no provider saw', measured: arrivals.answeredUnseen, most: 0 },
    { what: 'answers as not sent of calls a provider saw', measured: arrivals.seenUnsent, most: 0 },
    { what: 'faults not seen as they should be', measured: conduct.trouble === undefined ? 0 : 1, most: 0 },
    ...faults.map(({ name }) => ({ what: `fired: ${name}`, measured: fired.get(name) ?? 0, least: 1 })),
    { what: 'samples of the heap', measured: samples.length, least: bounds.samples },
    {
      what: `heap growth in ${bounds.heapGrowthMs / 1_000} s, MiB`,
      measured: growth / MIB,
      most: bounds.heapGrowthBytes / MIB,
    },
    {
      what: 'resident memory over its warm value, MiB',
      measured: Math.max(...samples.map(({ rssBytes }) => rssBytes - warm)) / MIB,
      most: bounds.rssBytes / MIB,
    },
    { what: 'descriptors at the end', measured: after.descriptors, most: before.descriptors },
    { what: 'children at the end', measured: after.children, most: before.children },
    { what: 'other handles at the end', measured: otherHandles(after), most: mostOtherHandles(before) },
    { what: 'warnings of Node, of too many listeners say', measured: after.warnings.length, most: 0 },
  ];
}

export function isKept({ measured, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY }: Verdict) {
  return measured >= least && measured <= most;
}

/** What holds the event loop open besides sockets and pipes: servers, child processes, timers. */
export function otherHandles({ resources }: Figures): number {
  const counts = Object.entries(resources).map(([type, count]) => (COUNTED_AS_DESCRIPTORS.has(type) ? 0 : count));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** How many of those may be there when all is quiet again. */
export function mostOtherHandles(before: Figures): number {
  return otherHandles(before) + PASSING_TIMERS;
}
