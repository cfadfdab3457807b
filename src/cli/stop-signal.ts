/** Resolves at the first SIGINT, SIGTERM or SIGHUP. */
export function untilToldToStop(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let told = false;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (!told) resolve(signal);
        told = true;
      });
    }
  });
}
