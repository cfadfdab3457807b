import { Controller, Get, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Readiness } from './readiness.js';
import { Route } from './route.decorator.js';

const healthSchema = {
  type: 'object',
  required: ['status'],
  properties: {
    status: { type: 'string', enum: ['ok', 'failing'] },
    failing: { type: 'string', enum: ['database', 'shutting_down'] },
  },
};

@ApiTags('Operations')
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('live')
  @Route({ access: 'public', summary: 'The process serves', answerSchema: healthSchema })
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('ready')
  @Route({ access: 'public', summary: 'The process can do its work', answerSchema: healthSchema })
  @ApiResponse({
    status: 503,
    description: 'Not now; `failing` says which part',
    content: { 'application/json': { schema: healthSchema } },
  })
  async ready(
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ status: 'ok' | 'failing'; failing?: string }> {
    const failing = await this.readiness.failing();
    if (failing === undefined) return { status: 'ok' };
    void reply.status(503);
    return { status: 'failing', failing };
  }
}
