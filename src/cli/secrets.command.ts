import { randomBytes } from 'node:crypto';

/** `warren secrets new-key`: one keyring entry, with an id of its own. */
export function newSecretKey(): void {
  console.log(`k${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}`);
}
