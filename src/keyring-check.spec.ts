import { describe, expect, it } from '@jest/globals';
import { missingKeys } from './keyring-check.js';

describe('the keys a database needs', () => {
  it('are all there', () => {
    expect(missingKeys([], ['k1'])).toBeUndefined();
    expect(missingKeys([{ table: 'server_secrets', keyId: 'k1', count: 1 }], ['k2', 'k1'])).toBeUndefined();
  });

  it('are named with how many secrets need them when they are not', () => {
    const counts = [
      { table: 'server_secrets', keyId: 'k1', count: 1 },
      { table: 'connection_secrets', keyId: 'k1', count: 2 },
      { table: 'connection_secrets', keyId: 'k2', count: 9 },
    ] as const;
    expect(missingKeys(counts, ['k2'])).toContain('it lacks the key k1, under which 3 secrets are sealed');
    expect(missingKeys(counts.slice(0, 1), ['k2'])).toContain('the key k1, under which 1 secret is sealed');
    expect(missingKeys(counts, ['k3'])).toContain('the keys k1, k2, under which 12 secrets are sealed');
  });
});
