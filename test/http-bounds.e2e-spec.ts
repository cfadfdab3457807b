import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { defaultHttpBounds } from '../src/http-bounds.js';
import { createToken } from '../src/token.js';
import { eventually } from './support/eventually.js';
import { startBoundedServer, type BoundedServer } from './support/bounded-server.js';
import { RawSocket, requestText } from './support/raw-socket.js';
import { rawRequest, type RawAnswer } from './support/raw-request.js';

const { token: ADMIN_KEY } = createToken('operator');
const AUTHORIZATION = { Authorization: `Bearer ${ADMIN_KEY}` };
const JSON_BODY = { ...AUTHORIZATION, 'Content-Type': 'application/json' };
/** Between two bytes of a slow client, milliseconds; far below every bound here. */
const DRIP_MS = 20;

let warren: BoundedServer;
const sockets: RawSocket[] = [];

beforeAll(async () => {
  const bounds = { headersMs: 400, requestMs: 800, checkMs: 50, keepAliveMs: 60_000, stallMs: 500 };
  warren = await startBoundedServer(bounds, {
    WARREN_ADMIN_KEY: ADMIN_KEY,
  });
});

afterEach(async () => {
  for (const socket of sockets) socket.end();
  await Promise.all(sockets.splice(0).map(({ closed }) => closed));
});

afterAll(() => warren.stop());

async function open(): Promise<RawSocket> {
  const socket = await new RawSocket(warren.url).opened();
  sockets.push(socket);
  return socket;
}

const ask = (method: string, path: string, headers: Record<string, string> = {}, body?: string): Promise<RawAnswer> =>
  rawRequest(warren.url, method, path, { ...AUTHORIZATION, ...headers }, body);

/** Whether the other side's end of a connection is established; a client that does not read is not told of its end. */
function isOpenAtServer({ socket }: RawSocket): boolean {
  const ports = [socket.remotePort, socket.localPort].map((port) =>
    (port ?? 0).toString(16).toUpperCase().padStart(4, '0'),
  );
  const [own, other] = ports;
  return new RegExp(`:${own} [0-9A-F]+:${other} 01 `).test(readFileSync('/proc/net/tcp', 'latin1'));
}

/** Writes on, a byte at a time, for as long as the other side lets it. */
async function drip(socket: RawSocket, byte: string): Promise<void> {
  const dripping = setInterval(() => socket.write(byte), DRIP_MS);
  await socket.closed;
  clearInterval(dripping);
}

function problemOf(text: string): { status: number; code: string } {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  expect(head).toContain('application/problem+json');
  const problem = JSON.parse(body) as { status: number; code: string };
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${problem.status} `));
  return { status: problem.status, code: problem.code };
}

describe('a client that sends too slowly', () => {
  it('is cut off when its headers take too long, however steadily it sends', async () => {
    const socket = (await open()).read();
    socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    await drip(socket, 'a');
    expect(problemOf(socket.received)).toEqual({ status: 408, code: 'request_timeout' });
  });

  it('is cut off when it says nothing at all', async () => {
    const socket = (await open()).read();
    await socket.closed;
    expect(problemOf(socket.received)).toEqual({ status: 408, code: 'request_timeout' });
  });

  it('is cut off when its body takes too long', async () => {
    const socket = (await open()).read();
    socket.write(requestText('POST', '/api/agents', { ...JSON_BODY, 'Content-Length': '100000' }, '{"name":"'));
    await drip(socket, 'a');
    expect(problemOf(socket.received)).toEqual({ status: 408, code: 'request_timeout' });
  });

  it('is cut off with a body that was refused already, too', async () => {
    const socket = (await open()).read();
    socket.write(requestText('POST', '/api/agents', { 'Content-Length': '100000' }, '{"name":"'));
    await drip(socket, 'a');
    expect(socket.received).toMatch(/^HTTP\/1\.1 401 /);
  });
});

describe('a client that does not read', () => {
  it('is cut off when it takes nothing of its answers', async () => {
    const socket = await open();
    // each answer is some hundred kilobytes, more than any buffer holds of all of them
    const answers = 250;
    socket.write(requestText('GET', '/openapi.json').repeat(answers));
    await eventually(() => expect(isOpenAtServer(socket)).toBe(false), 40_000);
    // what the systems had taken on both sides arrives, and then the end
    await socket.read().closed;
    expect(socket.received.split('HTTP/1.1 200 ').length - 1).toBeLessThan(answers);
    expect((await ask('GET', '/health/live')).status).toBe(200);
  });
});

describe('too much', () => {
  it.each([
    ['headers', () => ask('GET', '/health/live', { 'x-large': 'a'.repeat(20_000) }), 431, 'headers_too_large'],
    ['a path', () => ask('GET', `/api/agents?query=${'a'.repeat(9_000)}`), 414, 'uri_too_long'],
    ['a path without a token', () => ask('GET', `/${'a'.repeat(9_000)}`, { authorization: 'x' }), 414, 'uri_too_long'],
    ['a body', () => ask('POST', '/api/agents', JSON_BODY, 'a'.repeat(5_000_000)), 413, 'body_too_large'],
    ['nesting', () => ask('POST', '/api/agents', JSON_BODY, '['.repeat(201)), 400, 'malformed_json'],
  ])('of %s is refused', async (_what, send, status, code) => {
    const answer = await send();
    expect(answer.contentType).toMatch(/^application\/problem\+json/);
    expect(JSON.parse(answer.text)).toMatchObject({ status, code, requestId: answer.headers['x-request-id'] });
    expect(answer.status).toBe(status);
  });

  it('of a body is refused before it has arrived', async () => {
    const socket = (await open()).read();
    socket.write(
      requestText('POST', '/api/agents', { ...JSON_BODY, 'Content-Length': '999999999', Connection: 'close' }),
    );
    await socket.closed;
    expect(problemOf(socket.received)).toEqual({ status: 413, code: 'body_too_large' });
  });

  it('is no more than the bound', async () => {
    const name = 'a'.repeat(4_000_000);
    expect((await ask('POST', '/api/agents', JSON_BODY, JSON.stringify({ name }))).status).toBe(400);
    const nested = `${'['.repeat(200)}${']'.repeat(200)}`;
    const answer = await ask('POST', '/api/agents', JSON_BODY, nested);
    expect(JSON.parse(answer.text).code).toBe('validation_failed');
  });

  it('is told from what is no HTTP at all', async () => {
    const socket = await open();
    socket.write('\0\0\0 not a request\r\n\r\n');
    expect(problemOf(await socket.all())).toEqual({ status: 400, code: 'malformed_request' });
  });
});

describe('connections at once', () => {
  it('are bounded, and whoever keeps one for later makes room', async () => {
    const bounded = await startBoundedServer({}, { WARREN_RATE_CONNECTIONS: '12', WARREN_ADMIN_KEY: ADMIN_KEY });
    const connect = async (): Promise<RawSocket> => (await new RawSocket(bounded.url).opened()).read();
    const clients: RawSocket[] = [];
    try {
      for (let count = 0; count < 12; count += 1) clients.push(await connect());
      await (
        await connect()
      ).closed;

      const [keeping] = clients;
      keeping?.write(requestText('GET', '/health/live'));
      await eventually(() => expect(keeping?.received).toMatch(/^HTTP\/1\.1 200 /));
      await (
        await connect()
      ).closed;
      await keeping?.closed;

      const late = await connect();
      late.write(requestText('GET', '/metrics', { ...AUTHORIZATION, Connection: 'close' }));
      await late.closed;
      expect(late.received).toMatch(/^warren_rate_limited_total\{bound="connections"\} 2/m);
    } finally {
      for (const client of clients) client.end();
      await bounded.stop();
    }
  });
});

describe('the bounds of a server that nobody shortens', () => {
  it('are those that are documented', async () => {
    const server = await startBoundedServer({}, {});
    try {
      const { headersTimeout, requestTimeout, keepAliveTimeout, maxConnections } = server;
      const { headersMs, requestMs, keepAliveMs } = defaultHttpBounds;
      expect([headersTimeout, requestTimeout, keepAliveTimeout]).toEqual([headersMs, requestMs, keepAliveMs]);
      expect([headersMs, requestMs, keepAliveMs, maxConnections]).toEqual([10_000, 30_000, 72_000, 5_000]);
    } finally {
      await server.stop();
    }
  });
});
