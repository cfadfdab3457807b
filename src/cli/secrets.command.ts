import { randomBytes } from 'node:crypto';
import type { Config } from '../config.js';
import { SecretRotation } from '../secret-rotation.js';
import { besideServer } from './beside-server.js';

/** `warren secrets new-key`: one keyring entry, with an id of its own. */
export function newSecretKey(): void {
  console.log(`k${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}`);
}

/** `warren secrets status`: how many secrets are sealed under which key. */
export async function showSecretStatus({ settings }: Config): Promise<void> {
  await besideServer(settings, async (platform) => {
    const { keyIds, currentKeyId } = platform.secretBox;
    const counts = await SecretRotation.offline(platform).status();
    for (const keyId of keyIds) {
      const count = counts.filter((of) => of.keyId === keyId).reduce((sum, of) => sum + of.count, 0);
      console.log(`${keyId}: ${count} secrets${keyId === currentKeyId ? ', the current key' : ''}`);
    }
  });
}

/** `warren secrets rotate`: seals every secret under the current key, also while servers run. */
export async function rotateSecrets({ settings }: Config): Promise<void> {
  await besideServer(settings, async (platform) => {
    const count = await SecretRotation.offline(platform).run({ kind: 'command' });
    const { keyIds, currentKeyId } = platform.secretBox;
    console.log(`${count} secrets were sealed anew; all are under ${currentKeyId} now.`);
    const others = keyIds.filter((keyId) => keyId !== currentKeyId);
    if (others.length > 0) console.log(`The keyring needs no more: ${others.join(', ')}.`);
  });
}
