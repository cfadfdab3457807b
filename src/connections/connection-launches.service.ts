import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { OwnSecrets } from '../own-secrets.js';
import { Redactor } from '../redactor.js';
import { withQueryParameters } from './base-url.js';
import type { ConnectionLaunch, HttpLaunch, StdioLaunch } from './connection.launch.js';
import type { ConnectionRecord } from './connection.record.js';
import { ConnectionSecrets, type OpenedSecret } from './connection-secrets.service.js';
import { maskedParts } from './secret-values.js';

/** Redactors are dear to make and small to keep. */
const MAX_REDACTORS = 500;

/** Reads connections as a session needs them, secrets opened. */
@Injectable()
export class ConnectionLaunches {
  /** By launch revision, which is new with every change of a secret and never used twice. */
  private readonly redactors = new LRUCache<number, Redactor>({ max: MAX_REDACTORS });

  constructor(
    private readonly secrets: ConnectionSecrets,
    private readonly ownSecrets: OwnSecrets,
  ) {}

  /**
   * Everything a session needs to know, read at one moment; undefined when there is no such connection.
   * Errors: `SecretBoxError` when a secret cannot be opened.
   */
  async launchOf(id: string): Promise<ConnectionLaunch | undefined> {
    const found = await this.secrets.open(id);
    if (found === undefined) return undefined;
    const { record, secrets } = found;
    return {
      id,
      name: record.name,
      transport: record.transport,
      enabled: record.enabled,
      lifecycle: record.lifecycle,
      launchRevision: record.launchRevision,
      connectTimeoutMs: record.connectTimeoutMs,
      callTimeoutMs: record.callTimeoutMs,
      maxConcurrentCalls: record.maxConcurrentCalls,
      maxResultChars: record.maxResultChars,
      sessionScope: record.sessionScope,
      maxSessions: record.maxSessions,
      sealsValues: record.sealsValues,
      era: record.era,
      endpoint: record.transport === 'stdio' ? stdioLaunch(record, secrets) : httpLaunch(record, secrets),
      redactor: this.redactorFor(record.launchRevision, secrets),
    };
  }

  private redactorFor(launchRevision: number, secrets: readonly OpenedSecret[]): Redactor {
    const known = this.redactors.get(launchRevision);
    if (known !== undefined) return known;
    const masked = secrets.flatMap(({ kind, name, value }) => maskedParts(kind, name, value));
    const redactor = this.ownSecrets.redactor.with(masked);
    this.redactors.set(launchRevision, redactor);
    return redactor;
  }
}

function stdioLaunch(record: ConnectionRecord, secrets: readonly OpenedSecret[]): StdioLaunch {
  const secretArguments = new Map(pairs(secrets, 'argument'));
  return {
    transport: 'stdio',
    command: record.command ?? '',
    args: record.args.map((argument) =>
      typeof argument === 'string' ? argument : (secretArguments.get(argument.secret) ?? ''),
    ),
    cwd: record.cwd,
    environment: Object.fromEntries(pairs(secrets, 'environment')),
  };
}

function httpLaunch(record: ConnectionRecord, secrets: readonly OpenedSecret[]): HttpLaunch {
  const apiKey = secrets.find(({ kind }) => kind === 'api_key');
  return {
    transport: 'http',
    url: withQueryParameters(record.baseUrl ?? '', pairs(secrets, 'query_parameter')),
    headers: Object.fromEntries([
      ...(apiKey === undefined ? [] : [['Authorization', `Bearer ${apiKey.value}`]]),
      ...pairs(secrets, 'header'),
    ]) as Record<string, string>,
  };
}

function pairs(secrets: readonly OpenedSecret[], of: OpenedSecret['kind']): [string, string][] {
  return secrets.filter(({ kind }) => kind === of).map(({ name, value }) => [name, value]);
}
