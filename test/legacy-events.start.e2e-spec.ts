import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createToken } from '../src/token.js';
import { replaceConnections } from './support/bare-connections.js';
import { temporaryDataDirectory } from './support/temporary-data-directory.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';
import { startWarren, type TestWarren } from './support/warren.js';

const CANARY = 'canary-token-of-a-provider';
const ROWS = [
  { ts: '2026-01-02T03:04:05Z', providerId: 'files', status: 'ready' },
  { ts: '2026-01-02T03:05:05Z', providerId: 'files', status: 'unavailable', error: `refused: ${CANARY}` },
];

let database: TestDatabase;
let file: string;
const adminKey = createToken('operator').token;

beforeAll(async () => {
  database = await createTestDatabase();
  file = join(temporaryDataDirectory(), 'mcp-provider-events.jsonl');
  await writeFile(file, ROWS.map((row) => `${JSON.stringify(row)}\n`).join(''));
  await replaceConnections(database.pool('connections'), ['files']);
});

afterAll(() => database.drop());

const start = (path: string): Promise<TestWarren> =>
  startWarren({ database, adminKey, environment: { WARREN_LEGACY_EVENTS_FILE: path } });

const countOf = (warrens: TestWarren[], message: string): number =>
  warrens.reduce((sum, warren) => sum + warren.log().split(`"msg":"${message}`).length - 1, 0);

const stopAll = (warrens: TestWarren[]): Promise<(number | null)[]> =>
  Promise.all(warrens.map((warren) => warren.stop()));

describe('a server that is given a legacy event file', () => {
  it('starts without it, saying why, when it cannot be imported', async () => {
    const warren = await start(`${file}.missing`);
    try {
      expect(countOf([warren], 'legacy events were not imported: the file cannot be read (ENOENT)')).toBe(1);
      expect((await warren.api.get('/api/connections/files/events')).body.items).toEqual([]);
    } finally {
      expect(await warren.stop()).toBe(0);
    }
  });

  it('has its events from the first answer on; of two that start at once, one imports', async () => {
    const warrens = await Promise.all([start(file), start(file)]);
    try {
      for (const { api } of warrens) {
        const { items } = await api.expect(200, 'GET', '/api/connections/files/events');
        expect(items).toMatchObject([
          { at: '2026-01-02T03:05:05.000Z', status: 'unavailable', reason: 'unknown', imported: true },
          { at: '2026-01-02T03:04:05.000Z', status: 'ready', imported: true },
        ]);
        expect(items).toHaveLength(2);
      }
      expect(countOf(warrens, 'legacy events were imported')).toBe(1);
      expect(countOf(warrens, 'the legacy events of this path were imported before')).toBe(1);
      expect(warrens.map((warren) => warren.log()).join('')).not.toContain(CANARY);
    } finally {
      expect(await stopAll(warrens)).toEqual([0, 0]);
    }
  });
});
