import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { serverSecretContext } from './sealed-tables.js';
import { SecretBox } from './secret-box.js';
import { ServerSecretsRepository } from './server-secrets.repository.js';

const TOKEN_HMAC_KEY = 'token_hmac_key';

/**
 * Secrets that Warren makes for itself, sealed in the database. The first one doubles as the check that this process
 * holds the right keyring: it is opened at start.
 */
@Injectable()
export class ServerSecrets {
  private hmacKey: Promise<Buffer> | undefined;

  constructor(
    private readonly repository: ServerSecretsRepository,
    private readonly secretBox: SecretBox,
  ) {}

  /**
   * 32 bytes that token hashes are keyed with; made at the first start.
   * Errors: `SecretBoxError` when the keyring is not the one it was sealed with.
   */
  tokenHmacKey(): Promise<Buffer> {
    this.hmacKey ??= this.loadOrCreate(TOKEN_HMAC_KEY).catch((error: unknown) => {
      this.hmacKey = undefined;
      throw error;
    });
    return this.hmacKey;
  }

  /** Opens the sealed sentinel if there is one yet; writes nothing. Errors: as `tokenHmacKey`. */
  async proveKeyring(): Promise<void> {
    const sealed = await this.repository.findInAnySchema(TOKEN_HMAC_KEY);
    if (sealed !== undefined) this.secretBox.open(sealed, serverSecretContext(TOKEN_HMAC_KEY));
  }

  private async loadOrCreate(name: string): Promise<Buffer> {
    const found = await this.repository.find(name);
    if (found === undefined) {
      const sealed = this.secretBox.seal(randomBytes(32), serverSecretContext(name));
      await this.repository.insertIfAbsent(name, sealed, this.secretBox.currentKeyId);
    }
    const sealed = found ?? (await this.repository.find(name));
    if (sealed === undefined) throw new Error(`the server secret ${name} vanished while it was made`);
    return Buffer.from(this.secretBox.open(sealed, serverSecretContext(name)));
  }
}
