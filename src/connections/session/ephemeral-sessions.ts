import { SessionError } from './session-error.js';

interface Stay {
  launchRevision: number;
  controller: AbortController;
  gone: Promise<void>;
}

/** One operation's place among those that run on sessions of their own. */
export interface EphemeralStay {
  /** Follows the caller's signal, and aborts when the connection stops. */
  signal: AbortSignal;
  /** What must have ended before the stay has. */
  leaveWhen(ended: Promise<void>): void;
  leave(): void;
}

/** The operations that run on sessions of their own, so that stopping their connection ends these too. */
export class EphemeralSessions {
  private readonly stays = new Set<Stay>();

  get count(): number {
    return this.stays.size;
  }

  /** Registers one operation, until it calls `leave` and all that `leaveWhen` was given has ended. */
  enter(launchRevision: number, caller: AbortSignal): EphemeralStay {
    const controller = new AbortController();
    const ends: Promise<void>[] = [];
    const follow = (): void => controller.abort(caller.reason);
    if (caller.aborted) follow();
    caller.addEventListener('abort', follow, { once: true });
    let leave = (): void => undefined;
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const stay: Stay = { launchRevision, controller, gone: left.then(() => Promise.all(ends)).then(() => undefined) };
    this.stays.add(stay);
    void stay.gone.finally(() => this.stays.delete(stay));
    return {
      signal: controller.signal,
      leaveWhen: (ended) => {
        ends.push(ended);
      },
      leave: () => {
        caller.removeEventListener('abort', follow);
        leave();
      },
    };
  }

  /** Ends the operations with settings up to this launch revision and waits until their sessions are gone. */
  async stop(upToRevision: number): Promise<void> {
    const stays = [...this.stays].filter(({ launchRevision }) => launchRevision <= upToRevision);
    for (const { controller } of stays) controller.abort(new SessionError('interrupted', 'The session was stopped.'));
    await Promise.all(stays.map(({ gone }) => gone));
  }
}
