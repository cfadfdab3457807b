import type { Config } from '../config.js';
import { startServer } from '../main.js';
import { listenForStop } from './stop-signal.js';

/** `warren serve`: runs until it is told to stop. */
export async function serve({ settings }: Config): Promise<void> {
  // heard from the first moment: a signal during the start must not leave a database behind
  const stop = listenForStop();
  const server = await startServer(settings);
  console.log(`Warren serves at ${server.url} (API pages: ${server.url}/docs)`);
  await stop.first;
  await server.stop(stop.again);
}
