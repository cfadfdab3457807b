import { SessionError } from './session-error.js';

interface Stay {
  controller: AbortController;
  gone: Promise<void>;
}

/** The operations that run on sessions of their own, so that stopping their connection ends these too. */
export class EphemeralSessions {
  private readonly stays = new Set<Stay>();

  get count(): number {
    return this.stays.size;
  }

  /**
   * Registers one operation. Its signal follows the caller's and `stop`; `leave` ends the registration, once all that
   * `leaveWhen` was given has ended.
   */
  enter(caller: AbortSignal): { signal: AbortSignal; leaveWhen: (end: Promise<void>) => void; leave: () => void } {
    const controller = new AbortController();
    const ends: Promise<void>[] = [];
    let leave = (): void => undefined;
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const stay: Stay = { controller, gone: left.then(() => Promise.all(ends)).then(() => undefined) };
    this.stays.add(stay);
    void stay.gone.finally(() => this.stays.delete(stay));
    return {
      signal: AbortSignal.any([caller, controller.signal]),
      leaveWhen: (ended) => {
        ends.push(ended);
      },
      leave,
    };
  }

  /** Ends the operations and waits until their sessions are gone. */
  async stop(): Promise<void> {
    const stays = [...this.stays];
    for (const { controller } of stays) controller.abort(new SessionError('interrupted', 'The session was stopped.'));
    await Promise.all(stays.map(({ gone }) => gone));
  }
}
