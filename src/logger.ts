import type { LoggerService } from '@nestjs/common';
import { pino, type Logger as PinoLogger } from 'pino';
import type { OwnSecrets } from './own-secrets.js';

export type LogFields = Record<string, unknown>;

/** JSON log lines on standard error; every line passes the redactor before it is written. */
export class Logger {
  private readonly pino: PinoLogger;

  constructor(
    level: string,
    ownSecrets: OwnSecrets,
    write: (line: string) => void = (line) => process.stderr.write(line),
  ) {
    this.pino = pino(
      {
        level,
        base: undefined,
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
      },
      { write: (line: string) => write(ownSecrets.redactor.text(line).text) },
    );
  }

  debug(fields: LogFields, message: string): void {
    this.pino.debug(describeErrors(fields), message);
  }

  info(fields: LogFields, message: string): void {
    this.pino.info(describeErrors(fields), message);
  }

  warn(fields: LogFields, message: string): void {
    this.pino.warn(describeErrors(fields), message);
  }

  error(fields: LogFields, message: string): void {
    this.pino.error(describeErrors(fields), message);
  }
}

/** Errors as name, message and stack, with their causes, so that JSON shows them. */
function describeErrors(fields: LogFields): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? describeError(value, 5) : value]),
  );
}

function describeError(error: Error, depth: number): LogFields {
  return {
    name: error.name,
    message: error.message,
    stack: error.stack,
    ...(error.cause instanceof Error && depth > 0 ? { cause: describeError(error.cause, depth - 1) } : {}),
  };
}

/** Nest's own messages, at the levels that suit a server's log. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, context?: string): void {
    this.logger.debug({ context }, String(message));
  }

  warn(message: unknown, context?: string): void {
    this.logger.warn({ context }, String(message));
  }

  error(message: unknown, stack?: string, context?: string): void {
    this.logger.error({ context, stack }, String(message));
  }
}
