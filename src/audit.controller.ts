import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type AuditEntryAnswer, AuditPageAnswer, AuditQuery } from './audit.dto.js';
import { AuditLog } from './audit.service.js';
import type { Page } from './pagination.js';
import { Route } from './route.decorator.js';

@ApiTags('Audit')
@Controller('api/audit')
export class AuditController {
  constructor(private readonly audit: AuditLog) {}

  @Get()
  @Route({
    access: 'read',
    summary: 'List what operators changed, newest first',
    description:
      'Calls are not here, they have receipts. Each entry holds the hash of the one before; ' +
      '`warren audit verify` checks the whole log.',
    answer: AuditPageAnswer,
    problems: ['cursor_invalid'],
  })
  list(@Query() query: AuditQuery): Promise<Page<AuditEntryAnswer>> {
    return this.audit.list(query);
  }
}
