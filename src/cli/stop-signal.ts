/** Being told to stop, from the first moment on. */
export interface StopSignals {
  /** Resolves at the first SIGINT, SIGTERM or SIGHUP. */
  readonly first: Promise<NodeJS.Signals>;
  /** Resolves at the next SIGINT or SIGTERM: whoever asks wants it to happen now. */
  readonly again: Promise<void>;
}

/** Starts listening for signals; from now on they no longer end the process by themselves. */
export function listenForStop(): StopSignals {
  let told = false;
  let resolveFirst: (signal: NodeJS.Signals) => void = () => undefined;
  let resolveAgain: () => void = () => undefined;
  const first = new Promise<NodeJS.Signals>((resolve) => {
    resolveFirst = resolve;
  });
  const again = new Promise<void>((resolve) => {
    resolveAgain = resolve;
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (!told) resolveFirst(signal);
      // a terminal that closes sends SIGHUP besides
      else if (signal !== 'SIGHUP') resolveAgain();
      told = true;
    });
  }
  return { first, again };
}
