import { readdirSync } from 'node:fs';
import { createConnection } from 'node:net';
import type pg from 'pg';
import { providersOf } from '../support/processes.js';

/** What the probe inside the process tells. */
interface ProbeAnswer {
  heapBytes: number;
  externalBytes: number;
  rssBytes: number;
  /** What holds the event loop open, by type. */
  resources: Record<string, number>;
  /** Warnings of Node so far: too many listeners show here. */
  warnings: string[];
}

/** One look at a process, right after a forced garbage collection. */
export interface Figures extends ProbeAnswer {
  /** `performance.now()` of the look. */
  at: number;
  /** Open descriptors besides those of database connections, which a pool opens and closes as it likes. */
  descriptors: number;
  databaseConnections: number;
  /** Living provider processes. */
  children: number;
}

/** Reads the figures of one Warren process from outside. */
export class FigureReader {
  constructor(
    private readonly pid: number,
    private readonly socketPath: string,
    /** Connections of this pool to the same database are not counted. */
    private readonly pool: pg.Pool,
    private readonly applicationName: string,
  ) {}

  /** Also writes a heap snapshot to a path, if given. */
  async read(snapshot = ''): Promise<Figures> {
    const answer = await this.ask(snapshot);
    const databaseConnections = await this.countDatabaseConnections();
    return {
      ...answer,
      at: performance.now(),
      descriptors: readdirSync(`/proc/${this.pid}/fd`).length - databaseConnections,
      databaseConnections,
      children: providersOf(this.pid).length,
    };
  }

  private async ask(snapshot: string): Promise<ProbeAnswer> {
    const socket = createConnection(this.socketPath).setEncoding('utf8');
    socket.write(`${snapshot}\n`);
    let text = '';
    for await (const chunk of socket) text += chunk as string;
    return JSON.parse(text) as ProbeAnswer;
  }

  private async countDatabaseConnections(): Promise<number> {
    const { rows } = await this.pool.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend' and application_name <> $1`,
      [this.applicationName],
    );
    return rows[0]?.count ?? 0;
  }
}
