import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Instance } from '../instance.js';
import { Logger } from '../logger.js';
import { SecretBox } from '../secret-box.js';
import { CallsRepository } from './calls.repository.js';

const BEAT_MS = 5_000;
/** A process not seen for this long counts as dead, seconds. */
const DEAD_AFTER_SECONDS = 20;

/** Says that this process lives, and closes the receipts of those that no longer do. */
@Injectable()
export class InstanceHeartbeat implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly instance: Instance,
    private readonly repository: CallsRepository,
    private readonly logger: Logger,
    private readonly box: SecretBox,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.beat();
    this.timer = setInterval(() => void this.beat(), BEAT_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.repository.leave(this.instance.id).catch(() => undefined);
  }

  private async beat(): Promise<void> {
    try {
      await this.repository.beat(this.instance.id, this.box.keyMarks);
      const interrupted = await this.repository.interruptOrphans(DEAD_AFTER_SECONDS);
      if (interrupted > 0) this.logger.warn({ interrupted }, 'calls of a dead process were closed as interrupted');
    } catch (error) {
      this.logger.warn({ error }, 'the heartbeat could not be written');
    }
  }
}
