import type { Config } from '../config.js';
import { startServer } from '../main.js';
import { untilToldToStop } from './stop-signal.js';

/** `warren serve`: runs until it is told to stop. */
export async function serve({ settings }: Config): Promise<void> {
  const server = await startServer(settings);
  console.log(`Warren serves at ${server.url} (API pages: ${server.url}/docs)`);
  await untilToldToStop();
  await server.stop();
}
