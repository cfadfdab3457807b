import { migrations } from '../../migrations/index.js';
import type { Settings } from '../config.js';
import { openPlatform, type Platform } from '../platform.js';
import { listenForStop } from './stop-signal.js';

/**
 * Runs a short command on the database, also beside a server that runs on the same data directory. A signal does not
 * end it midway, because an embedded database it started would stay behind.
 */
export async function besideServer<T>(settings: Settings, work: (platform: Platform) => Promise<T>): Promise<T> {
  listenForStop();
  const platform = await openPlatform(settings, migrations, 'share');
  try {
    return await work(platform);
  } finally {
    await platform.close();
  }
}
