import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { offlineAuditLog } from '../src/audit.offline.js';
import { CredentialsRepository } from '../src/credentials.repository.js';
import { offlineCredentials } from '../src/credentials.offline.js';
import type { CredentialsService } from '../src/credentials.service.js';
import { Database } from '../src/database.js';
import { Keyring, SecretBox } from '../src/secret-box.js';
import { ServerSecretsRepository } from '../src/server-secrets.repository.js';
import { ServerSecrets } from '../src/server-secrets.service.js';
import { OwnSecrets } from '../src/own-secrets.js';
import { createToken } from '../src/token.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';
import { startWarren, TEST_KEYRING } from './support/warren.js';
import { admin } from './support/author.js';

let testDatabase: TestDatabase;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
});

afterAll(() => testDatabase.drop());

describe('WARREN_ADMIN_KEY', () => {
  it('works no longer once the environment names another, and the log says so', async () => {
    const first = await startWarren({ database: testDatabase });
    const { key } = await first.api.expect(201, 'POST', '/api/keys', { name: 'mine', scopes: ['read'] });
    await first.stop();

    const second = await startWarren({ database: testDatabase });
    try {
      expect((await second.api.get('/api/keys')).status).toBe(200);
      expect((await second.api.as(first.adminKey).get('/api/keys')).status).toBe(401);
      expect((await second.api.as(key).get('/api/agents')).status).toBe(200);
      expect(second.log()).toContain('keys that WARREN_ADMIN_KEY named before were revoked');
    } finally {
      await second.stop();
    }
  });

  it('is kept by a start with the same, and revoked by one without', async () => {
    const database = new Database(testDatabase.pool());
    const secrets = new ServerSecrets(
      new ServerSecretsRepository(database),
      await SecretBox.create(Keyring.parse(TEST_KEYRING)),
    );
    const credentials: CredentialsService = offlineCredentials({
      database,
      serverSecrets: secrets,
      ownSecrets: new OwnSecrets([]),
    });
    const { token: own } = await credentials.issueOperatorKey(admin, 'own', ['admin']);
    const { token: rotated } = createToken('operator');
    await credentials.adoptAdminKey(rotated);
    expect(await credentials.adoptAdminKey(rotated)).toBe(0);
    expect(await credentials.authenticate(rotated)).toMatchObject({ scopes: ['admin'] });
    expect(await credentials.adoptAdminKey(undefined)).toBe(1);
    expect(await credentials.authenticate(rotated)).toBeUndefined();
    expect(await credentials.authenticate(own)).toMatchObject({ scopes: ['admin'] });
    expect(await new CredentialsRepository(database).otherEnvironmentKeys(undefined)).toEqual([]);
  });

  it('that was a lesser key is noted as what it becomes, once', async () => {
    const database = new Database(testDatabase.pool());
    const ownSecrets = new OwnSecrets([]);
    const serverSecrets = new ServerSecrets(
      new ServerSecretsRepository(database),
      await SecretBox.create(Keyring.parse(TEST_KEYRING)),
    );
    const credentials = offlineCredentials({ database, serverSecrets, ownSecrets });
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const { token, row } = await credentials.issueOperatorKey(admin, 'lesser', ['read'], soon);
    await credentials.adoptAdminKey(token);
    await credentials.adoptAdminKey(token);
    expect(await credentials.authenticate(token)).toMatchObject({ scopes: ['admin'] });
    const { items } = await offlineAuditLog({ database, ownSecrets }).list({ targetId: row.id });
    expect(items).toMatchObject([
      {
        actor: { kind: 'environment' },
        before: { name: 'lesser', scopes: ['read'], expiresAt: soon },
        after: { name: 'WARREN_ADMIN_KEY', scopes: ['admin'], expiresAt: null },
      },
      { actor: { kind: 'operator' }, after: { scopes: ['read'] } },
    ]);
  });
});
