import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { Database } from '../database.js';
import { Logger } from '../logger.js';
import { legacyTextContext } from '../sealed-tables.js';
import { SecretBox } from '../secret-box.js';
import { ConnectionEvents, type ImportCounts } from './connection-events.service.js';
import { LegacyFileError, readLegacyFile } from './legacy-events.file.js';
import { readLegacyRows } from './legacy-events.rows.js';
import { LegacyImportsRepository } from './legacy-imports.repository.js';

/** Takes the events of an older server's file over, once for each path; the file itself is only read. */
@Injectable()
export class LegacyEventsImport {
  constructor(
    private readonly imports: LegacyImportsRepository,
    private readonly events: ConnectionEvents,
    private readonly database: Database,
    private readonly box: SecretBox,
    private readonly logger: Logger,
  ) {}

  /**
   * Imports the file unless its path was imported before, by whatever process. Never rejects, since a server is of use
   * without its old events: what went wrong is logged, nothing is kept, and the next start tries again.
   */
  async run(path: string): Promise<void> {
    const file = resolve(path);
    try {
      const counts = (await this.imports.isImported(file)) ? undefined : await this.import(file);
      if (counts === undefined) this.logger.info({ file }, 'the legacy events of this path were imported before');
      else this.logger.info({ file, ...counts }, 'legacy events were imported');
    } catch (error) {
      if (error instanceof LegacyFileError) {
        this.logger.warn({ file }, `legacy events were not imported: the file ${error.message}`);
      } else {
        this.logger.error({ file, error }, 'legacy events were not imported');
      }
    }
  }

  /** Receipt and events in one transaction; undefined when another process was first. */
  private async import(sourcePath: string): Promise<(ImportCounts & { malformed: number }) | undefined> {
    const bytes = await readLegacyFile(sourcePath);
    const { events, malformed } = readLegacyRows(bytes.toString('utf8'), new Date());
    const receipt = {
      sourcePath,
      textHash: createHash('sha256').update(bytes).digest(),
      textBytes: bytes.length,
      sealed: this.box.seal(bytes, legacyTextContext(sourcePath)),
      keyId: this.box.currentKeyId,
    };
    return this.database.transaction(async (transaction) => {
      if (!(await this.imports.claim(transaction, receipt))) return undefined;
      const counts = { ...(await this.events.takeOver(transaction, events)), malformed };
      await this.imports.complete(transaction, sourcePath, counts);
      return counts;
    });
  }
}
