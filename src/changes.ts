import { Injectable } from '@nestjs/common';

type Listener = () => Promise<void>;

/** What changed: permissions and settings, or the cancellations that one replica leaves for the others. */
export type ChangeKind = 'permissions' | 'cancellations';

/**
 * Tells those who hold live things (sessions, calls in flight) that something they depend on changed, so that they look
 * again. A hint without content: each listener compares what it holds with the database, and also does so on a timer (`watch`).
 */
@Injectable()
export class Changes {
  private readonly listeners = { permissions: new Set<Listener>(), cancellations: new Set<Listener>() };

  /** Registers a listener; the answer takes it off again. */
  subscribe(listener: Listener, kind: ChangeKind = 'permissions'): () => void {
    this.listeners[kind].add(listener);
    return () => this.listeners[kind].delete(listener);
  }

  /** As `subscribe`; the listener also looks every so many milliseconds when no change was announced. */
  watch(listener: Listener, everyMs: number, kind: ChangeKind = 'permissions'): () => void {
    const unsubscribe = this.subscribe(listener, kind);
    const timer = setInterval(() => void listener(), everyMs).unref();
    return () => {
      clearInterval(timer);
      unsubscribe();
    };
  }

  /**
   * Lets every listener look again and waits for them, in the order in which they registered: calls that lost their
   * permission are cancelled before the session they run on is ended. A listener deals with its own errors.
   */
  async announce(kind: ChangeKind = 'permissions'): Promise<void> {
    for (const listener of this.listeners[kind]) await listener();
  }
}
