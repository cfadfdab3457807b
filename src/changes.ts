import { Injectable } from '@nestjs/common';

type Listener = () => Promise<void>;

/**
 * Tells those who hold live things (sessions, calls in flight) that permissions or settings changed, so that they look
 * again. A hint without content: each listener compares what it holds with the database, and also does so on a timer.
 */
@Injectable()
export class Changes {
  private readonly listeners = new Set<Listener>();

  /** Registers a listener; the answer takes it off again. */
  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * Lets every listener look again and waits for them, in the order in which they registered: calls that lost their
   * permission are cancelled before the session they run on is ended. A listener deals with its own errors.
   */
  async announce(): Promise<void> {
    for (const listener of this.listeners) await listener();
  }
}
