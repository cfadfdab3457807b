import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createToken } from '../src/token.js';
import { verifyCount } from './support/verify-count.js';
import { startWarren, type TestWarren } from './support/warren.js';

const COUNT = verifyCount(2_000, 500);
const AT_ONCE = 16;
const SEED = 4;
/** Nothing here may be answered by a bound instead. */
const NO_RATE_BOUND = { WARREN_RATE_AUTH_FAILURES: '1000000', WARREN_RATE_REQUESTS: '1000000' };
const WORD = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-.~'.split('');
/** What may stand in an Authorization header at all. */
const headerText = fc.string({
  unit: fc.constantFrom(...'!#$%&()*+,-./:;<=>?@[]^_`{|}~ abcXYZ019'.split('')),
  maxLength: 300,
});

let warren: TestWarren;
let real: string[];

beforeAll(async () => {
  warren = await startWarren({ environment: NO_RATE_BOUND });
  const { key } = await warren.api.expect(201, 'POST', '/api/keys', { name: 'k', scopes: ['admin'] });
  const revoked = await warren.api.expect(201, 'POST', '/api/keys', { name: 'r', scopes: ['admin'] });
  await warren.api.expect(204, 'DELETE', `/api/keys/${revoked.id}`);
  await warren.api.expect(201, 'POST', '/api/agents', { id: 'a', name: 'A' });
  const { token } = await warren.api.expect(201, 'POST', '/api/agents/a/tokens', {});
  real = [key, token];
});

afterAll(() => warren.stop());

/** A real token with one thing wrong. */
function broken(token: string): fc.Arbitrary<string> {
  const place = fc.nat(token.length - 1);
  const character = fc.constantFrom(...WORD);
  return fc.oneof(
    fc.tuple(place, character).map(([at, other]) => token.slice(0, at) + other + token.slice(at + 1)),
    fc.tuple(place, character).map(([at, more]) => token.slice(0, at) + more + token.slice(at)),
    place.map((at) => token.slice(0, at)),
    place.map((at) => token.slice(at + 1)),
    fc.tuple(place, place).map(([a, b]) => swapped(token, a, b)),
    fc.constant(token.replace(/^wop/, 'wag').replace(/^wag/, token.startsWith('wag') ? 'wop' : 'wag')),
    fc.constantFrom(
      token.toUpperCase(),
      token.toLowerCase(),
      `${token}${token}`,
      `"${token}"`,
      `${token},`,
      `x ${token}`,
    ),
  );
}

function swapped(token: string, a: number, b: number): string {
  const characters = token.split('');
  [characters[a], characters[b]] = [characters[b] ?? '', characters[a] ?? ''];
  return characters.join('');
}

/** A well-formed token that was never issued. */
const unknown = fc.constantFrom('operator' as const, 'agent' as const).map((kind) => createToken(kind).token);

interface Refusal {
  status: number;
  headers: string;
  body: string;
}

async function refusalOf(authorization: string): Promise<Refusal> {
  const response = await fetch(new URL('/api/agents', warren.url), { headers: { authorization } });
  const varying = new Set(['date', 'x-request-id']);
  const headers = [...response.headers].filter(([name]) => !varying.has(name));
  const text = await response.text();
  return {
    status: response.status,
    headers: JSON.stringify(headers),
    body: text.replace(/"requestId":"[0-9a-f-]{36}"/, ''),
  };
}

it(
  `refuses ${COUNT} malformed tokens alike`,
  async () => {
    const expected = await refusalOf('Bearer nothing');
    expect(expected).toMatchObject({ status: 401 });
    const candidates = fc.oneof(
      ...real.map(broken).map((token) => token.map((text) => `Bearer ${text}`)),
      unknown.map((token) => `Bearer ${token}`),
      headerText.map((text) => `Bearer ${text}`),
      headerText,
      fc
        .constantFrom(...real)
        .chain((token) => fc.constantFrom(`Basic ${token}`, `Bearer${token}`, token, `Token ${token}`)),
    );
    const sent = fc
      .sample(candidates, { numRuns: COUNT, seed: SEED })
      .map((text) => text.trim())
      .filter((text) => !real.some((token) => new RegExp(`^Bearer +${token}$`, 'i').test(text)));
    process.stdout.write(
      `malformed tokens, seed ${SEED}: ${sent.length} sent, ${new Set(sent).size} of them different\n`,
    );
    expect(sent.length).toBeGreaterThan(COUNT * 0.9);
    const queue = sent.values();
    const send = async (): Promise<void> => {
      for (const authorization of queue)
        expect([authorization, await refusalOf(authorization)]).toEqual([authorization, expected]);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, send));
    for (const token of real)
      expect(
        (await fetch(new URL('/mcp', warren.url), { headers: { authorization: `Bearer ${token}` } })).status,
      ).not.toBe(401);
  },
  60_000 + COUNT * 10,
);
