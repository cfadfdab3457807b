import { afterEach, describe, expect, it } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { OauthKeySource } from '../src/oauth.key-source.js';
import { allow, closeAll, failure, httpServer, listen, safeFetch } from './safe-fetch.servers.js';
import { createServer } from 'node:net';

afterEach(closeAll);

/** The authorization server is on an address that is allowed, the canary on one that is not. */
const ALLOWED = '127.0.0.1/32';
const CANARY = '127.0.0.2';

interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** An authorization server that answers by path; its metadata names the keys at `jwksUri`. */
async function issuerNaming(jwksUri: (issuer: string) => string, answers: Record<string, Answer> = {}) {
  let issuer = '';
  const server = await httpServer((request, response) => {
    const metadata = { body: JSON.stringify({ issuer, jwks_uri: jwksUri(issuer) }) };
    const all: Record<string, Answer> = { '/.well-known/oauth-authorization-server': metadata, ...answers };
    const { status = 200, headers = {}, body = '' } = all[request.url ?? ''] ?? { status: 404 };
    response.writeHead(status, headers).end(body);
  });
  issuer = `http://127.0.0.1:${server.port}`;
  return issuer;
}

/** Counts connections, whatever they bring. */
function canary() {
  return listen(
    createServer((socket) => socket.destroy()),
    CANARY,
  );
}

function read(issuer: string, addresses: readonly string[] = []): Promise<unknown> {
  let asked = 0;
  const lookup = async () => {
    const address = addresses[Math.min(asked, addresses.length - 1)] ?? CANARY;
    asked += 1;
    return [{ address, family: 4 as const }];
  };
  const safe = safeFetch({ allowedNetworks: allow(ALLOWED), lookup });
  return new OauthKeySource(safe.fetch, { issuer, jwksUrl: undefined }).read();
}

describe('the metadata of an authorization server', () => {
  it('leads to the keys it names', async () => {
    const keys = { '/keys': { body: '{"keys":[]}' } };
    expect(await read(await issuerNaming((issuer) => `${issuer}/keys`, keys))).toEqual({ keys: [] });
  });

  it.each([
    ['an address that is not allowed', (port: number) => `https://${CANARY}:${port}/keys`],
    ['the same as a number', (port: number) => `https://2130706434:${port}/keys`],
    ['the same within IPv6', (port: number) => `https://[::ffff:127.0.0.2]:${port}/keys`],
    ['no encryption', (port: number) => `http://${CANARY}:${port}/keys`],
    ['a name that leads there', (port: number) => `https://keys.example:${port}/keys`],
    ['a user', (port: number) => `https://user@${CANARY}:${port}/keys`],
    ['a file', () => 'file:///etc/hostname'],
    ['nothing', () => ''],
  ])('does not lead to %s', async (_, jwksUri) => {
    const lure = await canary();
    const issuer = await issuerNaming(() => jwksUri(lure.port));
    expect((await failure(read(issuer))).message).toMatch(/is not public|must be a URL/);
    expect(lure.connections()).toBe(0);
  });

  it('does not lead to a name whose address changes after it was checked', async () => {
    const lure = await canary();
    const issuer = await issuerNaming(() => `https://keys.example:${lure.port}/keys`);
    // nobody listens at the address that is checked, so that is what the answer tells
    expect(await failure(read(issuer, ['127.0.0.1', CANARY]))).toMatchObject({ reason: 'connection_refused' });
    expect(lure.connections()).toBe(0);
  });

  it.each(['/.well-known/oauth-authorization-server', '/keys'])(
    'does not lead away by a redirect of %s',
    async (from) => {
      const lure = await canary();
      const moved = { status: 302, headers: { location: `http://${CANARY}:${lure.port}/` } };
      const issuer = await issuerNaming((of) => `${of}/keys`, { [from]: moved });
      expect((await failure(read(issuer))).message).toContain('redirect');
      expect(lure.connections()).toBe(0);
    },
  );

  it('is not read when its keys are a bomb', async () => {
    const bomb = { headers: { 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(64 * 1024 * 1024)) };
    const issuer = await issuerNaming((of) => `${of}/keys`, { '/keys': bomb });
    expect((await failure(read(issuer))).message).toContain('more than 524288 bytes');
  });
});

it('a visit would be counted', async () => {
  const lure = await canary();
  await fetch(`http://${CANARY}:${lure.port}/`).catch(() => undefined);
  expect(lure.connections()).toBe(1);
});
