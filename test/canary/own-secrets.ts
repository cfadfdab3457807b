import { Database } from '../../src/database.js';
import { Keyring, SecretBox } from '../../src/secret-box.js';
import { ServerSecretsRepository } from '../../src/server-secrets.repository.js';
import { ServerSecrets } from '../../src/server-secrets.service.js';
import type { TestDatabase } from '../support/test-database.js';

/** The secrets that a Warren on this database makes or is given for itself, as text. */
export async function ownSecretsBehind(database: TestDatabase, keyring: string): Promise<Record<string, string>> {
  const box = await SecretBox.create(Keyring.parse(keyring));
  const key = await new ServerSecrets(
    new ServerSecretsRepository(new Database(database.pool('own secrets'))),
    box,
  ).tokenHmacKey();
  const keyringKey = keyring.slice(keyring.indexOf(':') + 1);
  return {
    keyringKey,
    keyringKeyInHex: Buffer.from(keyringKey, 'base64').toString('hex'),
    hmacKey: key.toString('base64'),
    hmacKeyInHex: key.toString('hex'),
  };
}
