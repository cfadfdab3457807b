/** The `code` of a system or database error (`ENOENT`, `57P01`, …), or undefined for anything else. */
export function systemErrorCode(error: unknown): string | undefined {
  // Not by `instanceof`: Node's own errors are of another realm when the code runs in a vm context.
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** What an error says, without its stack. */
export function errorText(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('message' in error)) return String(error);
  return String(error.message);
}
