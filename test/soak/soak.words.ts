/** An error with its causes, and where the innermost came from. */
export function inWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause === undefined) return error.stack ?? error.message;
  return `${error.message}: ${inWords(error.cause)}`;
}
