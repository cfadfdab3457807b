import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import path from 'node:path';
import { CANCELLED_BIT, COUNT_BITS, MAX_CALLS } from './arrivals.mjs';

/** What all provider processes noted of every call number. */
export class Arrivals {
  constructor(readonly directory: string) {}

  /** How often each call arrived, by number. */
  counts(): Uint8Array {
    const counts = new Uint8Array(MAX_CALLS);
    for (const file of this.files()) {
      readFileSync(file).forEach((byte, number) => {
        counts[number] = (counts[number] ?? 0) + (byte & COUNT_BITS);
      });
    }
    return counts;
  }

  /** Whether a call has arrived at a provider by now, or been cancelled there. */
  of(number: number): { arrived: boolean; cancelled: boolean } {
    let noted = 0;
    for (const file of this.files()) noted |= byteAt(file, number);
    return { arrived: (noted & COUNT_BITS) > 0, cancelled: (noted & CANCELLED_BIT) > 0 };
  }

  private files(): string[] {
    const names = readdirSync(this.directory);
    return names.filter((name) => name.endsWith('.arrivals')).map((name) => path.join(this.directory, name));
  }
}

/** 0 when the file ends before. */
function byteAt(file: string, position: number): number {
  const descriptor = openSync(file, 'r');
  try {
    const bytes = new Uint8Array(1);
    readSync(descriptor, bytes, 0, 1, position);
    return bytes[0] ?? 0;
  } finally {
    closeSync(descriptor);
  }
}
