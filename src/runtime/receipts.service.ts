import { Injectable } from '@nestjs/common';
import { ProblemError } from '../errors.js';
import { decodeCursor, DEFAULT_PAGE_SIZE, pageOf, type Page } from '../pagination.js';
import { CallRecorder } from './call-recorder.js';
import { callAnswer, type CallAnswer, type CallListQuery } from './calls.dto.js';
import { CallsRepository } from './calls.repository.js';

const CALL_ID = /^call_[A-Za-z0-9_-]{1,64}$/;

/** Receipts of calls, for operators. */
@Injectable()
export class ReceiptsService {
  constructor(
    private readonly repository: CallsRepository,
    private readonly recorder: CallRecorder,
  ) {}

  /** Errors: `cursor_invalid`. */
  async list(query: CallListQuery): Promise<Page<CallAnswer>> {
    const limit = query.limit ?? DEFAULT_PAGE_SIZE;
    const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, ['time', 'string']);
    await this.recorder.flush();
    const { agentId, connectionId, tool, code } = query;
    const rows = await this.repository.list(
      {
        agentId,
        connectionId,
        tool,
        code,
        ok: query.ok === undefined ? undefined : query.ok === 'true',
        from: query.from === undefined ? undefined : new Date(query.from),
        to: query.to === undefined ? undefined : new Date(query.to),
      },
      limit + 1,
      after,
    );
    return pageOf(rows, limit, callAnswer, (row) => [row.started_at.toISOString(), row.id]);
  }

  /** Errors: `call_not_found`. */
  async read(callId: string): Promise<CallAnswer> {
    await this.recorder.flush();
    const row = CALL_ID.test(callId) ? await this.repository.find(callId) : undefined;
    if (row === undefined) throw new ProblemError('call_not_found', 'There is no call of this id.');
    return callAnswer(row);
  }
}
