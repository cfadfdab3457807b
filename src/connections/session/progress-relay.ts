import type { JSONRPCMessage, Progress, Transport } from '@modelcontextprotocol/client';

type ProgressListener = (progress: Progress) => void;

/**
 * Hands the progress that a provider tells to the request it belongs to, ahead of the client: that one checks a message
 * at leisure, and forgets a token as soon as it has read the answer, and with it the progress that came right before in
 * the same piece of output. Construct it on a connected transport.
 */
export class ProgressRelay {
  private readonly listeners = new Map<number, ProgressListener>();
  private last = 0;

  constructor(transport: Transport) {
    const { onmessage } = transport;
    transport.onmessage = (message: JSONRPCMessage, extra) => {
      if ('method' in message && message.method === 'notifications/progress') this.take(message.params ?? {});
      else onmessage?.(message, extra);
    };
  }

  /** What a request that asks for progress sends along; `close` it when the request is over. */
  open(listener: ProgressListener): { meta: { progressToken: number }; close: () => void } {
    this.last += 1;
    const progressToken = this.last;
    this.listeners.set(progressToken, listener);
    return { meta: { progressToken }, close: () => this.listeners.delete(progressToken) };
  }

  /** What belongs to no request, or no longer, or is not well formed, is not worth a word. */
  private take({ progressToken, progress, total, message }: Record<string, unknown>): void {
    // a string copy of the number is as good; anything else may not even convert to one
    const isToken = typeof progressToken === 'number' || typeof progressToken === 'string';
    const listener = isToken ? this.listeners.get(Number(progressToken)) : undefined;
    if (listener === undefined || typeof progress !== 'number') return;
    listener({
      progress,
      ...(typeof total === 'number' ? { total } : {}),
      ...(typeof message === 'string' ? { message } : {}),
    });
  }
}
