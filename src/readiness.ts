import { Injectable } from '@nestjs/common';
import { Database } from './database.js';

/** Whether this process should get traffic, and if not, what fails. */
@Injectable()
export class Readiness {
  private draining = false;

  constructor(private readonly database: Database) {}

  /** From now on this process asks for no more traffic, and accepts none. */
  drain(): void {
    this.draining = true;
  }

  get isDraining(): boolean {
    return this.draining;
  }

  async failing(): Promise<'shutting_down' | 'database' | undefined> {
    if (this.draining) return 'shutting_down';
    return (await this.database.ping()) ? undefined : 'database';
  }
}
