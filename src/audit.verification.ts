import { auditHash, type ChainedEntry, GENESIS_HASH } from './audit.entry.js';

/** Where a log ended when this was noted: `<sequence>:<hash in hex>`. An empty log has none. */
export interface AuditHead {
  sequence: number;
  hash: Buffer;
}

/** Problems told before the rest is only counted. */
const MAX_PROBLEMS = 20;
const HEAD = /^([1-9]\d{0,15}):([0-9a-f]{64})$/;

/** Undefined when the text is no head. */
export function parseAuditHead(text: string): AuditHead | undefined {
  const [, sequence, hash] = HEAD.exec(text.trim()) ?? [];
  if (sequence === undefined || hash === undefined) return undefined;
  return { sequence: Number(sequence), hash: Buffer.from(hash, 'hex') };
}

export function formatAuditHead({ sequence, hash }: AuditHead): string {
  return `${sequence}:${hash.toString('hex')}`;
}

/**
 * Checks an audit log row by row, in the order of their numbers: that none is missing, each holds what was hashed and
 * follows the one before. Rows cut off at the end show only against a head that was noted earlier. Keeps one row.
 */
export class AuditVerification {
  /** In words, at most 20. */
  readonly problems: string[] = [];
  problemCount = 0;
  private last: AuditHead = { sequence: 0, hash: GENESIS_HASH };

  constructor(private readonly noted?: AuditHead) {}

  /** The newest row seen; undefined when there was none. */
  get head(): AuditHead | undefined {
    return this.last.sequence === 0 ? undefined : this.last;
  }

  next(entry: ChainedEntry): void {
    const expected = this.last.sequence + 1;
    if (entry.sequence !== expected) {
      this.report(`${rows(expected, entry.sequence - 1)} missing`);
    } else if (!entry.previousHash.equals(this.last.hash)) {
      this.report(`row ${entry.sequence} does not follow the row before it`);
    }
    if (!isAsHashed(entry)) this.report(`row ${entry.sequence} was edited`);
    if (entry.sequence === this.noted?.sequence && !entry.hash.equals(this.noted.hash)) {
      this.report(`row ${entry.sequence} is not the one of the noted head`);
    }
    this.last = { sequence: entry.sequence, hash: entry.hash };
  }

  /** To be called after the last row. */
  end(): void {
    if (this.noted === undefined || this.noted.sequence <= this.last.sequence) return;
    this.report(
      `${rows(this.last.sequence + 1, this.noted.sequence)} missing: the log was cut off before its noted head`,
    );
  }

  private report(problem: string): void {
    this.problemCount += 1;
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(problem);
  }
}

function isAsHashed(entry: ChainedEntry): boolean {
  try {
    return auditHash(entry.previousHash, entry).equals(entry.hash);
  } catch {
    // what has no canonical form was never hashed
    return false;
  }
}

function rows(from: number, to: number): string {
  return from === to ? `row ${from} is` : `rows ${from} to ${to} are`;
}
