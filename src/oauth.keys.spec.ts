import { describe, expect, it } from '@jest/globals';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { OauthKeys } from './oauth.keys.js';

const { publicKey } = await generateKeyPair('RS256');
const JWK_ONE: JWK = { ...(await exportJWK(publicKey)), alg: 'RS256' };
const header = (kid: string): { alg: string; kid: string } => ({ alg: 'RS256', kid });

interface Bench {
  keys: OauthKeys;
  asked: number;
  failures: number;
  isUp: boolean;
  known: string[];
  now: number;
}

function bench(): Bench {
  const state = { asked: 0, failures: 0, isUp: true, known: ['one'], now: 0 };
  const read = async (): Promise<unknown> => {
    state.asked += 1;
    await Promise.resolve();
    if (!state.isUp) throw new Error('away');
    return { keys: state.known.map((kid) => ({ ...JWK_ONE, kid })) };
  };
  const onFailure = (): void => void (state.failures += 1);
  return Object.assign(state, { keys: new OauthKeys(read, onFailure, () => state.now) });
}

const MINUTE = 60_000;
const unavailable = { code: 'authorization_server_unavailable' };
const unknown = { code: 'ERR_JWKS_NO_MATCHING_KEY' };

describe('the keys of an authorization server', () => {
  it('are asked for once, also by many at the same moment', async () => {
    const at = bench();
    await Promise.all(Array.from({ length: 100 }, () => at.keys.keyOf(header('one'))));
    expect(at.asked).toBe(1);
  });

  it('are asked for again for a key nobody knows, and found when they were changed', async () => {
    const at = bench();
    await at.keys.keyOf(header('one'));
    at.known = ['one', 'two'];
    at.now = MINUTE;
    await at.keys.keyOf(header('two'));
    expect(at.asked).toBe(2);
  });

  it('are asked for a bounded number of times, however many made-up keys are named', async () => {
    const at = bench();
    await at.keys.keyOf(header('one'));
    for (at.now = 0; at.now <= 10 * MINUTE; at.now += 100) {
      await expect(at.keys.keyOf(header(`made-up-${at.now}`))).rejects.toMatchObject(unknown);
    }
    // once in 30 s, and the first time
    expect(at.asked).toBe(21);
    await at.keys.keyOf(header('one'));
  });

  it('are not asked for again for a while when that failed', async () => {
    const at = bench();
    at.isUp = false;
    for (at.now = 0; at.now < MINUTE; at.now += 100) {
      await expect(at.keys.keyOf(header('one'))).rejects.toMatchObject(unavailable);
    }
    expect([at.asked, at.failures]).toEqual([12, 12]);
    at.isUp = true;
    await at.keys.keyOf(header('one'));
  });

  it('serve on for an hour when the server is away, and are renewed when it is not', async () => {
    const at = bench();
    await at.keys.keyOf(header('one'));
    at.isUp = false;
    at.now = 59 * MINUTE;
    await at.keys.keyOf(header('one'));
    await new Promise(setImmediate);
    expect(at.failures).toBe(1);
    at.now = 61 * MINUTE;
    await expect(at.keys.keyOf(header('one'))).rejects.toMatchObject(unavailable);
    at.isUp = true;
    at.now = 62 * MINUTE;
    await at.keys.keyOf(header('one'));
  });

  it('that were taken back are no longer taken once the set was renewed', async () => {
    const at = bench();
    await at.keys.keyOf(header('one'));
    at.known = ['two'];
    at.now = 11 * MINUTE;
    await at.keys.keyOf(header('one'));
    await new Promise(setImmediate);
    await expect(at.keys.keyOf(header('one'))).rejects.toMatchObject(unknown);
  });

  it.each([{}, { keys: 'none' }, { keys: [1] }, null])('are not read from %j', async (answer) => {
    const keys = new OauthKeys(
      async () => answer,
      () => undefined,
    );
    await expect(keys.keyOf(header('one'))).rejects.toMatchObject(unavailable);
  });
});
