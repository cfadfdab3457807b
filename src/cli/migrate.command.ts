import type { Config } from '../config.js';
import { besideServer } from './beside-server.js';

/** `warren migrate`. */
export async function migrate({ settings }: Config): Promise<void> {
  const applied = await besideServer(settings, (platform) => Promise.resolve(platform.applied));
  console.log(applied.length === 0 ? 'The schema is up to date.' : `Applied: ${applied.join(', ')}`);
}
