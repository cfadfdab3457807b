import { Injectable } from '@nestjs/common';
import type { DatabaseTransaction } from '../database.js';
import type { SecretKind } from '../database.schema.js';
import { connectionSecretContext } from '../sealed-tables.js';
import { SecretBox } from '../secret-box.js';
import { ConnectionSecretsRepository } from './connection-secrets.repository.js';
import type { ConnectionRecord } from './connection.record.js';
import type { SecretPlan } from './secret-changes.js';
import { flagsOf } from './secret-values.js';

/** A secret as the provider gets it. Never logged, answered or kept. */
export interface OpenedSecret {
  kind: SecretKind;
  name: string;
  value: string;
}

/** Seals and opens the secrets of connections, each bound to its connection, kind and name. */
@Injectable()
export class ConnectionSecrets {
  constructor(
    private readonly repository: ConnectionSecretsRepository,
    private readonly box: SecretBox,
  ) {}

  /** Carries a plan out. */
  async apply(transaction: DatabaseTransaction, connectionId: string, plan: SecretPlan): Promise<void> {
    await this.repository.remove(transaction, connectionId, plan.remove);
    await this.repository.move(transaction, connectionId, plan.keep);
    const rows = plan.set.map(({ kind, name, position, value }) => ({
      kind,
      name,
      position,
      flags: flagsOf(value),
      sealed: this.box.seal(value, connectionSecretContext(connectionId, kind, name)),
      keyId: this.box.currentKeyId,
    }));
    await this.repository.save(transaction, connectionId, rows);
  }

  /**
   * A connection and its opened secrets, read at one moment; undefined when there is no such connection.
   * Errors: `SecretBoxError` when one cannot be opened.
   */
  async open(connectionId: string): Promise<{ record: ConnectionRecord; secrets: OpenedSecret[] } | undefined> {
    const found = await this.repository.findWithSecrets(connectionId);
    if (found === undefined) return undefined;
    const secrets = found.secrets.map(({ kind, name, sealed }) => ({
      kind,
      name,
      value: Buffer.from(this.box.open(sealed, connectionSecretContext(connectionId, kind, name))).toString('utf8'),
    }));
    return { record: found.record, secrets };
  }
}
