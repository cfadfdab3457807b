/** The time in which a fault may show in the answers of some providers. */
export interface FaultWindow {
  fault: string;
  providers: readonly string[];
  codes: readonly string[];
  /** `performance.now()`; the end is infinite while it lasts. */
  end: number;
}

/** No call takes longer, so a window that ended before is of no more use, milliseconds. */
const LONGEST_CALL_MS = 60_000;

/** Which faults go on, and which have just ended. */
export class FaultWindows {
  private windows: FaultWindow[] = [];

  /** The answer ends it. */
  open(fault: string, providers: readonly string[], codes: readonly string[]): () => void {
    const window = { fault, providers, codes, end: Number.POSITIVE_INFINITY };
    this.windows.push(window);
    return () => {
      window.end = performance.now();
    };
  }

  /** The faults of a provider that went on at some moment between then and now. */
  overlapping(provider: string, since: number): FaultWindow[] {
    const oldest = performance.now() - LONGEST_CALL_MS;
    this.windows = this.windows.filter(({ end }) => end >= oldest);
    return this.windows.filter(({ providers, end }) => providers.includes(provider) && end >= since);
  }
}
