import { randomBytes } from 'node:crypto';
import { expect } from '@jest/globals';
import { Changes } from '../../src/changes.js';
import { readConfig } from '../../src/config.js';
import { ConnectionChanges } from '../../src/connections/connection-changes.service.js';
import { ConnectionLaunches } from '../../src/connections/connection-launches.service.js';
import { ConnectionSecretsRepository } from '../../src/connections/connection-secrets.repository.js';
import { ConnectionSecrets } from '../../src/connections/connection-secrets.service.js';
import type { CreateConnectionBody } from '../../src/connections/connection.dto.js';
import { ConnectionsRepository } from '../../src/connections/connections.repository.js';
import { ConnectionsService } from '../../src/connections/connections.service.js';
import type { LiveState } from '../../src/connections/session/live-state.js';
import type { SessionManager } from '../../src/connections/session/session-manager.js';
import { Database } from '../../src/database.js';
import { OwnSecrets } from '../../src/own-secrets.js';
import { Keyring, SecretBox } from '../../src/secret-box.js';
import { auditLog } from './author.js';
import { createTestDatabase } from './test-database.js';

export const OWN_SECRET = 'own-database-password';

/** Stands in for the sessions: remembers what was asked, and says `connected` of the ids in `connected`. */
class Sessions {
  readonly asked: string[] = [];
  readonly connected = new Set<string>();
  live(id: string): LiveState {
    return { state: this.connected.has(id) ? 'connected' : 'idle', since: '2026-01-01T00:00:00.000Z' };
  }
  async start({ id }: { id: string }): Promise<void> {
    this.asked.push(`start ${id}`);
  }
  async stop(id: string): Promise<void> {
    this.asked.push(`stop ${id}`);
  }
  async forget(id: string): Promise<void> {
    this.asked.push(`forget ${id}`);
  }
}

/** The services of the connections room over a real database, with sessions that only remember. */
export interface ConnectionsRoom {
  connections: ConnectionsService;
  changes: ConnectionChanges;
  sessions: Sessions;
  /** How often changes were announced. */
  announced: () => number;
}

export interface ConnectionsBench {
  database: Database;
  /** A fresh room, with the environment of its server. */
  room(environment?: Record<string, string>): ConnectionsRoom;
  /** Removes every provider. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

export async function openConnectionsBench(): Promise<ConnectionsBench> {
  const testDatabase = await createTestDatabase();
  const database = new Database(testDatabase.pool('connections'));
  const box = await SecretBox.create(Keyring.parse(`k1:${randomBytes(32).toString('base64')}`));
  return {
    database,
    room: (environment = {}) => compose(database, box, environment),
    empty: async () => {
      await database.pool.query('truncate providers cascade');
    },
    close: async () => {
      await database.close();
      await testDatabase.drop();
    },
  };
}

function compose(database: Database, box: SecretBox, environment: Record<string, string>): ConnectionsRoom {
  const sessions = new Sessions();
  let announced = 0;
  const announcements = new Changes();
  announcements.subscribe(async () => {
    announced += 1;
  });
  const manager = sessions as unknown as SessionManager;
  const repository = new ConnectionsRepository(database);
  const secrets = new ConnectionSecrets(new ConnectionSecretsRepository(database), box);
  const launches = new ConnectionLaunches(secrets, new OwnSecrets([OWN_SECRET]));
  const { settings } = readConfig(environment);
  const audit = auditLog(database);
  return {
    connections: new ConnectionsService(repository, launches, manager, database, announcements, audit),
    changes: new ConnectionChanges(repository, secrets, database, announcements, manager, audit, settings),
    sessions,
    announced: () => announced,
  };
}

/** A body as a plain object. */
type Body = Pick<CreateConnectionBody, keyof CreateConnectionBody>;

export const http = (name: string, more: Partial<Body> = {}): Body => ({
  name,
  transport: 'http',
  baseUrl: 'https://a.example/mcp?x=1',
  ...more,
});

export const stdio = (name: string, more: Partial<Body> = {}): Body => ({
  name,
  transport: 'stdio',
  command: 'node',
  ...more,
});

/** Matches a problem of this code. */
export const refused = (code: string): unknown => expect.objectContaining({ code });
