import { Controller, Get, Header } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Metrics } from './metrics.js';
import { Route } from './route.decorator.js';

@ApiTags('Operations')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  @Header('cache-control', 'no-store')
  @Route({ access: 'read', summary: 'Metrics of this process, in the text format of Prometheus', answerText: true })
  read(): Promise<string> {
    return this.metrics.text();
  }
}
