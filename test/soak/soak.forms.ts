const MIB = 1024 * 1024;

/** How long, how hard and how strict. */
export interface SoakForm {
  /** Of load on the warm process, milliseconds; one round of faults at least. */
  steadyMs: number;
  /**
   * The process is warm after one round of faults and so many answered calls; on a machine too slow for that, after so
   * long, milliseconds. Until then the heap grows by what the compiler makes of the code that runs, ever more slowly:
   * with the optimising compiler switched off it does not grow at all.
   */
  warmCalls: number;
  warmAtMostMs: number;
  /** Between the beginnings of two faults, milliseconds: in that round, and after it. */
  warmFaultEveryMs: number;
  faultEveryMs: number;
  /** A sample is taken before the steady part and after every so many faults of it. */
  faultsPerSample: number;
  callers: number;
  /** Calls begun in a second, at most. */
  callsPerSecond: number;
  bounds: {
    /** Calls answered in the steady part; none for a form that runs on machines of any speed. */
    calls: number;
    samples: number;
    /** Growth of the heap after garbage collection, by the line of least squares through the samples. */
    heapGrowthBytes: number;
    /** The time that growth is for, milliseconds. */
    heapGrowthMs: number;
    /** Resident memory over its value when warm. */
    rssBytes: number;
  };
}

/** The whole soak, and a short form that checks the same on a busy machine. */
export const soakForms = {
  full: {
    steadyMs: 600_000,
    warmCalls: 60_000,
    warmAtMostMs: 600_000,
    warmFaultEveryMs: 5_000,
    faultEveryMs: 10_000,
    faultsPerSample: 3,
    callers: 12,
    callsPerSecond: 200,
    bounds: {
      calls: 100_000,
      samples: 10,
      heapGrowthBytes: MIB,
      heapGrowthMs: 600_000,
      rssBytes: 32 * MIB,
    },
  },
  short: {
    steadyMs: 30_000,
    warmCalls: 0,
    warmAtMostMs: 0,
    warmFaultEveryMs: 0,
    faultEveryMs: 3_000,
    faultsPerSample: 1,
    callers: 8,
    callsPerSecond: 100,
    bounds: {
      calls: 1,
      samples: 10,
      heapGrowthBytes: 8 * MIB,
      heapGrowthMs: 60_000,
      rssBytes: 96 * MIB,
    },
  },
} as const satisfies Record<string, SoakForm>;

export type SoakFormName = keyof typeof soakForms;
