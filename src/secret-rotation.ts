import { setTimeout as delay } from 'node:timers/promises';
import { offlineAuditLog } from './audit.offline.js';
import type { AuditLog } from './audit.service.js';
import type { Author } from './author.js';
import type { Database } from './database.js';
import type { OwnSecrets } from './own-secrets.js';
import { type SealCount, SealedRepository } from './sealed.repository.js';
import { type SealedTable, sealedTables } from './sealed-tables.js';
import type { SecretBox } from './secret-box.js';

/** How long rows that others hold are waited for, without any progress, milliseconds. */
const PATIENCE_MS = 30_000;
const LOOK_AGAIN_MS = 100;

/** Secrets cannot be re-sealed now; in words for an operator. What was re-sealed so far stays so. */
export class RotationError extends Error {
  override readonly name = 'RotationError';
}

/** Seals every stored secret under the current key, while others read and write them. */
export class SecretRotation {
  constructor(
    private readonly repository: SealedRepository,
    private readonly database: Database,
    private readonly box: SecretBox,
    private readonly audit: AuditLog,
  ) {}

  /** For a command that runs no server. */
  static offline(on: { database: Database; secretBox: SecretBox; ownSecrets: OwnSecrets }): SecretRotation {
    return new SecretRotation(new SealedRepository(on.database), on.database, on.secretBox, offlineAuditLog(on));
  }

  /** What is sealed under which key. */
  status(): Promise<SealCount[]> {
    return this.repository.count(sealedTables);
  }

  /**
   * Re-seals what is sealed under another key than the current one; answers how many secrets that were. May be ended at
   * any moment, and goes on from there when it is run again.
   * Errors: `RotationError`; `SecretBoxError` when a secret cannot be opened.
   */
  async run(author: Author): Promise<number> {
    await this.refuseUnderOtherKeys();
    const before = this.others(await this.status());
    if (before.length === 0) return 0;
    await this.note(author, 'requested', { sealed: before });
    let count = 0;
    for (const table of sealedTables) count += await this.runOn(table);
    await this.note(author, 'done', { resealed: count });
    return count;
  }

  /** A process that lacks the key could open nothing any more, and one that seals under another would undo the work. */
  private async refuseUnderOtherKeys(): Promise<void> {
    const keyrings = await this.repository.liveKeyrings();
    // two keys may have been given one id by hand
    const [ours] = this.box.keyMarks;
    const wrong = keyrings.filter(([current]) => current !== ours).length;
    if (wrong === 0) return;
    throw new RotationError(
      `${wrong} running Warren${wrong === 1 ? ' has' : 's have'} another current key than ${this.box.currentKeyId}: ` +
        'give every one of them the same keyring, the new key first, and run this again. ' +
        '(One that was killed counts for 20 s.) Nothing was changed.',
    );
  }

  private async runOn(table: SealedTable): Promise<number> {
    let count = 0;
    let deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const done = await this.runBatch(table);
      count += done;
      if (done > 0) {
        deadline = performance.now() + PATIENCE_MS;
        continue;
      }
      const left = this.others(await this.repository.count([table]));
      if (left.length === 0) return count;
      if (performance.now() > deadline) {
        const rows = left.reduce((sum, of) => sum + of.count, 0);
        throw new RotationError(`${rows} secrets of ${table.name} are held by others; run this again.`);
      }
      await delay(LOOK_AGAIN_MS);
    }
  }

  private runBatch(table: SealedTable): Promise<number> {
    return this.database.transaction(async (transaction) => {
      const rows = await this.repository.takeOthers(transaction, table, this.box.currentKeyId);
      let done = 0;
      for (const row of rows) {
        const context = table.contextOf(row);
        const sealed = this.box.seal(this.box.open(row.sealed, context), context);
        if (await this.repository.replace(transaction, table, row, sealed, this.box.currentKeyId)) done += 1;
      }
      return done;
    });
  }

  private others(counts: readonly SealCount[]): SealCount[] {
    return counts.filter(({ keyId }) => keyId !== this.box.currentKeyId);
  }

  private note(author: Author, outcome: 'requested' | 'done', after: unknown): Promise<void> {
    const target = { kind: 'keyring', id: this.box.currentKeyId } as const;
    return this.database.transaction((transaction) =>
      this.audit.record(transaction, author, { action: 'secrets.rotate', target, outcome, after }),
    );
  }
}
