import { createHmac, createPublicKey } from 'node:crypto';
import { encoded, newKey, type FakeIssuer } from './support/fake-issuer.js';

const PLAIN = '{"alg":"RS256","kid":"one"}';

/** Tokens that are wrong in one thing each, by what it is. `elsewhere` is a URL that must never be asked. */
export function wrongTokens(issuer: FakeIssuer, elsewhere: string): Record<string, string> {
  return {
    ...wrongAlgorithms(issuer),
    ...wrongClaims(issuer),
    ...wrongKeys(issuer, elsewhere),
    ...wrongForms(issuer),
    ...wrongAgents(issuer),
  };
}

function wrongAlgorithms(issuer: FakeIssuer): Record<string, string> {
  const claims = encoded(issuer.claims());
  const signature = issuer.token().split('.')[2] ?? '';
  const unsigned = (header: object): string => `${encoded(JSON.stringify(header))}.${claims}`;
  const byPublicKey = (secret: string | Buffer): string => {
    const text = unsigned({ alg: 'HS256', typ: 'JWT', kid: 'one' });
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
  };
  const pem = String(issuer.publicKey.export({ format: 'pem', type: 'spki' }));
  return {
    'alg none without a signature': `${unsigned({ alg: 'none', typ: 'JWT' })}.`,
    'alg none with a signature': `${unsigned({ alg: 'none', kid: 'one' })}.${signature}`,
    'alg nOnE': `${unsigned({ alg: 'nOnE', kid: 'one' })}.${signature}`,
    'alg in other case': issuer.signed('{"alg":"rs256","kid":"one"}', issuer.claims()),
    'no alg': issuer.signed('{"kid":"one"}', issuer.claims()),
    'a list of algs': issuer.signed('{"alg":["RS256"],"kid":"one"}', issuer.claims()),
    'HS256 by the public key as PEM': byPublicKey(pem),
    'HS256 by the public key as PEM without its last line end': byPublicKey(pem.trimEnd()),
    'HS256 by the public key as DER': byPublicKey(issuer.publicKey.export({ format: 'der', type: 'spki' })),
    'HS256 by the modulus': byPublicKey(Buffer.from(issuer.publicKey.export({ format: 'jwk' }).n ?? '', 'base64url')),
    'HS256 by nothing': byPublicKey(''),
    'an algorithm that is not allowed': issuer.signed(
      '{"alg":"RS512","kid":"one"}',
      issuer.claims(),
      issuer.privateKey,
      'sha512',
    ),
    'an algorithm of another kind of key': issuer.token({}, { alg: 'ES256' }),
    'the signature of another hash': issuer.signed(PLAIN, issuer.claims(), issuer.privateKey, 'sha512'),
  };
}

function wrongClaims(issuer: FakeIssuer): Record<string, string> {
  const now = Math.floor(Date.now() / 1_000);
  const raw = (from: RegExp, to: string): string => {
    const claims = issuer.claims().replace(from, to);
    if (!claims.includes(to)) throw new Error(`${to} did not get into the claims`);
    return issuer.signed(PLAIN, claims);
  };
  return {
    'another audience': issuer.token({ aud: 'https://other.example/mcp' }),
    'an audience that begins alike': issuer.token({ aud: 'https://warren.example/mcp/more' }),
    'an audience in other case': issuer.token({ aud: 'https://WARREN.example/mcp' }),
    'no audience': issuer.token({ aud: undefined }),
    'an empty list of audiences': issuer.token({ aud: [] }),
    'an audience that is no text': issuer.token({ aud: { 'https://warren.example/mcp': true } }),
    'another issuer': issuer.token({ iss: 'https://other.example' }),
    'the issuer with a slash more': issuer.token({ iss: `${issuer.url}/` }),
    'a list of issuers': issuer.token({ iss: [issuer.url] }),
    'no issuer': issuer.token({ iss: undefined }),
    expired: issuer.token({ exp: now - 60 }),
    'an end that is text': issuer.token({ exp: String(now + 600) }),
    'an end that never comes': raw(/"exp":\d+/, '"exp":1e999'),
    'an end beyond all calendars': raw(/"exp":\d+/, '"exp":1e300'),
    'no end': issuer.token({ exp: undefined }),
    'an end of null': issuer.token({ exp: null }),
    'not before later': issuer.token({ nbf: now + 60 }),
    'not before as text': issuer.token({ nbf: 'now' }),
    'a claim twice': raw(/"agent":"own"/, '"agent":"other","agent":"own"'),
    'a claim twice, once escaped': raw(/"agent":"own"/, '"ag\\u0065nt":"other","agent":"own"'),
    'claims that are a list': issuer.signed(PLAIN, '[]'),
    'claims that are no JSON': issuer.signed(PLAIN, 'agent=own'),
  };
}

function wrongKeys(issuer: FakeIssuer, elsewhere: string): Record<string, string> {
  const stranger = newKey();
  const jwk = createPublicKey(stranger).export({ format: 'jwk' });
  return {
    'a key nobody knows': issuer.token({}, { kid: 'nobody' }),
    'a published key that is none': issuer.token({}, { alg: 'ES256', kid: 'broken' }),
    'a key id that is no text': issuer.token({}, { kid: 1 }),
    'a key id as a path': issuer.token({}, { kid: '../../../../dev/null' }),
    'a long key id': issuer.token({}, { kid: 'x'.repeat(300) }),
    'the signature of another key': issuer.token({}, {}, stranger),
    'another key in jwk': issuer.token({}, { jwk, kid: undefined }, stranger),
    'another key set in jku': issuer.token({}, { jku: `${elsewhere}/jku`, kid: 'new' }, stranger),
    'another key set in jku for a known key': issuer.token({}, { jku: `${elsewhere}/jku` }, stranger),
    'another certificate in x5u': issuer.token({}, { x5u: `${elsewhere}/x5u` }, stranger),
    'another certificate in x5c': issuer.token({}, { x5c: ['AAAA'] }, stranger),
  };
}

function wrongForms(issuer: FakeIssuer): Record<string, string> {
  const good = issuer.token();
  const [header = '', claims = '', signature = ''] = good.split('.');
  return {
    'an extension that must be understood': issuer.token({}, { crit: ['x'], x: 1 }),
    'an unencoded payload': issuer.token({}, { crit: ['b64'], b64: false }),
    'an unencoded payload without crit': issuer.token({}, { b64: false }),
    'an empty crit': issuer.token({}, { crit: [] }),
    'the type of a log-out': issuer.token({}, { typ: 'logout+jwt' }),
    'the type of a proof': issuer.token({}, { typ: 'dpop+jwt' }),
    'a type that is no text': issuer.token({}, { typ: 1 }),
    'a header that names alg twice': issuer.signed('{"alg":"none","alg":"RS256","kid":"one"}', issuer.claims()),
    'a header that is no JSON': issuer.signed('alg=RS256', issuer.claims()),
    'changed claims': `${header}.${encoded(issuer.claims({ agent: 'other' }))}.${signature}`,
    'no signature': `${header}.${claims}.`,
    'two parts': `${header}.${claims}`,
    'five parts': `${good}.${claims}.${signature}`,
    'a part more in front': `.${good}`,
    'padded base64': `${good}==`,
    'a cut signature': good.slice(0, -4),
    'a huge token': issuer.token({ filling: 'x'.repeat(6_500) }),
  };
}

function wrongAgents(issuer: FakeIssuer): Record<string, string> {
  return {
    'an unknown agent': issuer.token({ agent: 'nobody' }),
    'a disabled agent': issuer.token({ agent: 'disabled' }),
    'no agent': issuer.token({ agent: undefined }),
    'a list of agents': issuer.token({ agent: ['own'] }),
    'an agent in other case': issuer.token({ agent: 'OWN' }),
    'an agent with a blank': issuer.token({ agent: 'own ' }),
    'an agent with NUL': issuer.token({ agent: 'own\0' }),
    'an agent of 3,000 characters': issuer.token({ agent: 'own'.repeat(1_000) }),
    'an agent that is inherited': issuer.signed(
      PLAIN,
      issuer.claims({ agent: undefined }).replace('}', ',"__proto__":{"agent":"own"}}'),
    ),
  };
}
