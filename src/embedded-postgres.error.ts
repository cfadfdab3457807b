/** Why the embedded database cannot serve, in words an operator can act on. */
export class EmbeddedPostgresError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EmbeddedPostgresError';
  }
}

/** The `code` of a system error (`ENOENT`, ...), or undefined for anything else. */
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
