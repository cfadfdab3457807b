import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { keySpellings, OwnSecrets } from './own-secrets.js';

const key = randomBytes(32);
const keyring = `k1:${key.toString('base64')}`;
const masks = (own: OwnSecrets, text: string): boolean => own.redactor.text(text).count > 0;

describe('own secrets', () => {
  it('mask the database password, also percent-encoded, and the URL that holds it', () => {
    const own = OwnSecrets.of({ keyring, databaseUrl: 'postgres://me:p%40ss-word-1@db.internal/warren' });
    for (const text of ['p@ss-word-1', 'p%40ss-word-1', 'postgres://me:p%40ss-word-1@db.internal/warren']) {
      expect(masks(own, `before ${text} after`)).toBe(true);
    }
    expect(own.warnings).toEqual([]);
    expect(masks(own, 'me at db.internal in warren over postgres://')).toBe(false);
  });

  it('mask a password that the URL names in its query, or that is no valid percent-encoding', () => {
    expect(masks(OwnSecrets.of({ keyring, databaseUrl: 'postgres://h/d?password=abcdefgh1' }), 'abcdefgh1')).toBe(true);
    expect(masks(OwnSecrets.of({ keyring, databaseUrl: 'postgres://u:100%-secret@h/d' }), '100%-secret')).toBe(true);
  });

  it.each([
    ['postgres://postgres:postgres@localhost/warren', 'postgres', /ordinary word/],
    ['postgres://me:warren-db@localhost/warren-db', 'warren-db', /ordinary word/],
    ['postgres://me:short@localhost/warren', 'short', /shorter than 8/],
  ])('say of %s that its password cannot be masked alone', (databaseUrl, password, why) => {
    const own = OwnSecrets.of({ keyring, databaseUrl });
    expect(own.warnings).toEqual([expect.stringMatching(why)]);
    expect(JSON.stringify(own.warnings)).not.toMatch(/short[^e]|warren-db|postgres[^q]/);
    expect(masks(own, `a ${password} b`)).toBe(false);
    expect(masks(own, databaseUrl)).toBe(true);
  });

  it('mask keys by their bytes: in hex and in base64, whatever stands beside them', () => {
    const learned = new OwnSecrets([]);
    learned.learnKey(key);
    for (const own of [OwnSecrets.of({ keyring }), learned]) {
      for (const before of [0, 1, 2, 3, 4]) {
        const bytes = Buffer.concat([randomBytes(before), key, randomBytes(before)]);
        for (const encoding of ['hex', 'base64', 'base64url'] as const) {
          expect(masks(own, `{"key":"${bytes.toString(encoding)}"}`)).toBe(true);
        }
        expect(masks(own, bytes.toString('hex').toUpperCase())).toBe(true);
      }
    }
  });

  it('spell a key without what its neighbours decide', () => {
    expect(keySpellings(Buffer.alloc(32)).every((spelling) => /^(0+|A+)$/.test(spelling))).toBe(true);
  });
});
