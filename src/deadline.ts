/** One monotonic deadline for one operation; its signal also follows the caller's. */
export class Deadline {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly endsAt: number;
  private readonly unlink: () => void;

  /** `milliseconds` from now. Errors: the signal aborts with `DeadlinePassed`, or with the caller's reason. */
  constructor(milliseconds: number, caller?: AbortSignal) {
    this.endsAt = performance.now() + milliseconds;
    this.timer = setTimeout(() => this.controller.abort(new DeadlinePassed(milliseconds)), milliseconds);
    const follow = (): void => this.controller.abort(caller?.reason);
    if (caller?.aborted) follow();
    caller?.addEventListener('abort', follow, { once: true });
    this.unlink = () => caller?.removeEventListener('abort', follow);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Milliseconds left, at least 0. */
  get remainingMs(): number {
    return Math.max(0, this.endsAt - performance.now());
  }

  /** Frees the timer; always call it when the operation is over. */
  end(): void {
    clearTimeout(this.timer);
    this.unlink();
  }
}

/** Why a signal aborted: time ran out. */
export class DeadlinePassed extends Error {
  constructor(readonly milliseconds: number) {
    super(`not finished within ${milliseconds} ms`);
    this.name = 'DeadlinePassed';
  }
}

/** The promise, or the signal's reason as soon as it aborts. The promise's own late rejection is swallowed. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  promise.catch(() => undefined);
  signal.throwIfAborted();
  let leave = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    leave = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
