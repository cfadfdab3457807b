/** Why a call over `/mcp` is ended before it is answered; the reason of its `AbortSignal`. */
export class McpAbort extends Error {
  constructor(readonly why: 'cancelled' | 'disconnected' | 'shutdown') {
    super(TEXTS[why]);
    this.name = 'McpAbort';
  }
}

const TEXTS = {
  cancelled: 'The caller cancelled the request.',
  disconnected: 'The caller disconnected.',
  shutdown: 'The server is shutting down.',
};
