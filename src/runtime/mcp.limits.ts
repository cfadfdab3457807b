/** The bounds of the `/mcp` endpoint, in one place so that a test can shorten them. */
export class McpLimits {
  /** A call that takes longer is answered as an event stream, so that comments can keep proxies from giving up. */
  readonly openStreamAfterMs: number = 10_000;
  /** Between two comments on an open event stream, milliseconds; below the usual proxy limits of 30 and 60 s. */
  readonly commentEveryMs: number = 15_000;
}
