const LONG = process.env['WARREN_VERIFY_COUNT'];

/** How often to repeat: `usual` times, or `each` times the count that a long verification asks for. */
export function verifyCount(usual: number, each: number): number {
  return LONG === undefined ? usual : Number(LONG) * each;
}
