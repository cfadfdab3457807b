/** A stream that ends before this was no use in itself; whoever cuts idle ones waits longer, milliseconds. */
const LASTS_MS = 20_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** So many in a row that were no use and on which nothing was ever said, and it is not opened again. */
const MOST_TRIES = 10;

/**
 * Decides when the stream on which a provider may speak by itself is opened again: soon after one that lasted, at growing
 * distances after ones that did not, and in the end not at all where nothing ever came.
 */
export class StandingStream {
  private openedAt: number | undefined;
  private failures = 0;
  private wasHeard = false;

  /** `now` in milliseconds, monotonic. */
  constructor(private readonly now: () => number = () => performance.now()) {}

  opened(): void {
    this.openedAt = this.now();
  }

  /** A message came on it. */
  heard(): void {
    this.wasHeard = true;
  }

  /** It ended or could not be opened: milliseconds until it is opened next, `askedMs` at least; undefined for never. */
  pauseAfter(askedMs: number): number | undefined {
    const lasted = this.openedAt !== undefined && this.now() - this.openedAt >= LASTS_MS;
    this.openedAt = undefined;
    this.failures = lasted ? 0 : this.failures + 1;
    if (this.failures > MOST_TRIES && !this.wasHeard) return undefined;
    const grown = FIRST_PAUSE_MS * 2 ** Math.min(Math.max(this.failures - 1, 0), 10);
    return Math.min(Math.max(grown, askedMs), LONGEST_PAUSE_MS);
  }
}
