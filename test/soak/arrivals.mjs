// How a soak provider tells which calls reached it: one file a process, one byte a call number, written in place, so that
// it survives SIGKILL and stays as small as the number of calls. Of each byte, six bits count arrivals.
import { openSync, writeSync } from 'node:fs';
import path from 'node:path';

/** Call numbers are below this. */
export const MAX_CALLS = 1 << 20;
export const COUNT_BITS = 0b0011_1111;
/** The provider was told that nobody waits for this call any more. */
export const CANCELLED_BIT = 0b1000_0000;

/** Opens the file of this process. */
export function arrivalsOf(directory) {
  const file = openSync(path.join(directory, `${process.pid}-${Date.now()}.arrivals`), 'w');
  const bytes = new Uint8Array(MAX_CALLS);
  const keep = (number) => writeSync(file, bytes, number, 1, number);
  return {
    arrived(number) {
      if ((bytes[number] & COUNT_BITS) < COUNT_BITS) bytes[number] += 1;
      keep(number);
    },
    cancelled(number) {
      bytes[number] |= CANCELLED_BIT;
      keep(number);
    },
  };
}
