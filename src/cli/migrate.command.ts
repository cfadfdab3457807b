import { migrations } from '../../migrations/index.js';
import type { Config } from '../config.js';
import { openPlatform } from '../platform.js';

/** `warren migrate`. */
export async function migrate({ settings }: Config): Promise<void> {
  const platform = await openPlatform(settings, migrations);
  await platform.close();
  const { applied } = platform;
  console.log(applied.length === 0 ? 'The schema is up to date.' : `Applied: ${applied.join(', ')}`);
}
