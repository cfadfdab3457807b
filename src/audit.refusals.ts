import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { AuthenticatedRequest } from './access.guard.js';
import { AuditLog } from './audit.service.js';
import { Database } from './database.js';
import { Logger } from './logger.js';

/** A key that tries the same again within this time adds no further row, milliseconds. */
const QUIET_MS = 10_000;
const MAX_KNOWN = 10_000;
const MAX_PATH = 1_024;

/** Notes in the audit log that an operator tried a change that the key's scopes do not allow. */
@Injectable()
export class AuditRefusals {
  private readonly recent = new LRUCache<string, true>({ max: MAX_KNOWN, ttl: QUIET_MS });

  constructor(
    private readonly audit: AuditLog,
    private readonly database: Database,
    private readonly logger: Logger,
  ) {}

  /** To be called with each answer before it is sent. What cannot be noted is logged; it was refused all the same. */
  async note(request: AuthenticatedRequest, status: number): Promise<void> {
    const { principal, method } = request;
    if (status !== 403 || principal?.kind !== 'operator' || method === 'GET' || method === 'HEAD') return;
    const route = `${method} ${(request.url.split('?', 1)[0] ?? '').slice(0, MAX_PATH)}`;
    const key = `${principal.credentialId} ${method} ${request.routeOptions.url ?? ''}`;
    if (this.recent.has(key)) return;
    this.recent.set(key, true);
    const author = { ...principal, requestId: request.id };
    const refusal = { action: 'access.refuse', target: { kind: 'route', id: route }, outcome: 'refused' } as const;
    try {
      await this.database.transaction((transaction) => this.audit.record(transaction, author, refusal));
    } catch (error) {
      this.logger.warn({ requestId: request.id, error }, 'a refused change could not be noted in the audit log');
    }
  }
}
