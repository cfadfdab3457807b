import { Injectable } from '@nestjs/common';
import { auditHash, type AuditedChange, type AuditEntry, type ChainedEntry, GENESIS_HASH } from './audit.entry.js';
import { type AuditEntryAnswer, auditEntryAnswer, type AuditQuery } from './audit.dto.js';
import { AuditRepository } from './audit.repository.js';
import { type AuditHead, AuditVerification } from './audit.verification.js';
import type { Author } from './author.js';
import type { DatabaseTransaction } from './database.js';
import type { AuditActor } from './database.schema.js';
import { OwnSecrets } from './own-secrets.js';
import { decodeCursor, DEFAULT_PAGE_SIZE, type Page, pageOf } from './pagination.js';
import { toStorableJson } from './storable-text.js';

/** Rows read at once by a verification. */
const VERIFIED_AT_ONCE = 500;

/** The record of what operators changed: every change and its row are in one transaction, so there is none without. */
@Injectable()
export class AuditLog {
  constructor(
    private readonly repository: AuditRepository,
    private readonly ownSecrets: OwnSecrets,
  ) {}

  /**
   * Adds a row for each change. To be the last step of the transaction that makes them: from here until it ends no
   * other change can end.
   */
  async record(transaction: DatabaseTransaction, author: Author, ...changes: AuditedChange[]): Promise<void> {
    if (changes.length === 0) return;
    let { sequence, hash } = (await this.repository.lockHead(transaction)) ?? { sequence: 0, hash: GENESIS_HASH };
    const at = new Date();
    const entries: ChainedEntry[] = [];
    for (const change of changes) {
      sequence += 1;
      const entry = { sequence, at, ...this.describe(author, change) };
      const previousHash = hash;
      hash = auditHash(previousHash, entry);
      entries.push({ ...entry, previousHash, hash });
    }
    await this.repository.append(transaction, entries);
  }

  /** Newest first. Errors: `cursor_invalid`. */
  async list({ limit = DEFAULT_PAGE_SIZE, cursor, from, to, ...filter }: AuditQuery): Promise<Page<AuditEntryAnswer>> {
    const before = cursor === undefined ? undefined : Number(decodeCursor(cursor, ['number'])[0]);
    const times = { from: timeOf(from), to: timeOf(to) };
    const entries = await this.repository.list({ ...filter, ...times }, limit + 1, before);
    return pageOf(entries, limit, auditEntryAnswer, ({ sequence }) => [sequence]);
  }

  /** The newest row, to be noted elsewhere; undefined of an empty log. */
  async head(): Promise<AuditHead | undefined> {
    return (await this.repository.list({}, 1, undefined))[0];
  }

  /** Reads the whole log and checks it, against a head noted earlier if there is one. */
  async verify(noted?: AuditHead): Promise<AuditVerification> {
    const verification = new AuditVerification(noted);
    for (;;) {
      const entries = await this.repository.following(verification.head?.sequence ?? 0, VERIFIED_AT_ONCE);
      for (const entry of entries) verification.next(entry);
      if (entries.length < VERIFIED_AT_ONCE) break;
    }
    verification.end();
    return verification;
  }

  private describe(
    author: Author,
    { action, target, outcome = 'done', before = null, after = null }: AuditedChange,
  ): Omit<AuditEntry, 'sequence' | 'at'> {
    const own = this.ownSecrets.redactor;
    const redactor = author.kind === 'operator' ? own.with(author.redactor ?? []) : own;
    const said = {
      actor: actorOf(author),
      action,
      target,
      outcome,
      requestId: author.kind === 'operator' ? author.requestId : null,
      before,
      after,
    };
    return toStorableJson(redactor.json(said).value).value as typeof said;
  }
}

function timeOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}

function actorOf(author: Author): AuditActor {
  return author.kind === 'operator'
    ? { kind: 'operator', id: author.credentialId, name: author.name }
    : { kind: author.kind, id: null, name: null };
}
