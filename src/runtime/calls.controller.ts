import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Page } from '../pagination.js';
import { IdParam, Route } from '../route.decorator.js';
import { CallAnswer, CallListQuery, CallPageAnswer } from './calls.dto.js';
import { ReceiptsService } from './receipts.service.js';

@ApiTags('Calls')
@Controller('api/calls')
export class CallsController {
  constructor(private readonly receipts: ReceiptsService) {}

  @Get()
  @Route({
    access: 'read',
    summary: 'List receipts, newest first',
    answer: CallPageAnswer,
    problems: ['cursor_invalid'],
  })
  list(@Query() query: CallListQuery): Promise<Page<CallAnswer>> {
    return this.receipts.list(query);
  }

  @Get(':callId')
  @IdParam('Call id', 'callId')
  @Route({ access: 'read', summary: 'One receipt', answer: CallAnswer, problems: ['call_not_found'] })
  read(@Param('callId') callId: string): Promise<CallAnswer> {
    return this.receipts.read(callId);
  }
}
