import { Injectable } from '@nestjs/common';
import { Database } from './database.js';
import { Metrics } from './metrics.js';

/** Measures the database connections of this process. */
@Injectable()
export class DatabaseMetrics {
  constructor(metrics: Metrics, { pool }: Database) {
    metrics.gauges({ name: 'warren_database_connections', help: 'Open database connections, by use.' }, 'use', () => [
      ['busy', pool.totalCount - pool.idleCount],
      ['idle', pool.idleCount],
    ]);
    metrics.gauge(
      { name: 'warren_database_waiting', help: 'Queries that wait for a free database connection.' },
      () => pool.waitingCount,
    );
  }
}
