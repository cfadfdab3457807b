import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { withDispatchGate } from '../src/dispatch-gate.js';
import { RecordingGate } from './safe-fetch.recording-gate.js';
import { closeAll, failure, httpServer, type Listening, safeFetch, tcpServer } from './safe-fetch.servers.js';
import { eventually } from './support/eventually.js';

afterEach(closeAll);

const WIDE_MS = 10_000;
const limits = { socketsPerOrigin: 3, streamsPerOrigin: 2 };

interface HoldingServer extends Listening {
  url: string;
  /** Answers under way that the server never ends by itself. */
  held: Set<ServerResponse>;
  sockets: () => number;
}

/** Answers at once, but holds what is posted to `/hang`; a GET gets an event stream without end. */
async function holdingServer(): Promise<HoldingServer> {
  const held = new Set<ServerResponse>();
  const open = new Set<unknown>();
  const listening = await httpServer((request, response) => {
    if (!open.has(request.socket)) request.socket.once('close', () => open.delete(request.socket));
    open.add(request.socket);
    const streams = request.method === 'GET';
    if (streams) response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    if (!streams && request.url !== '/hang') return void response.end('ok');
    held.add(response);
    response.once('close', () => held.delete(response));
  });
  return { ...listening, url: `http://127.0.0.1:${listening.port}`, held, sockets: () => open.size };
}

type Fetch = (input: string, init?: RequestInit) => Promise<Response>;

const call = { method: 'POST', body: '{"method":"call"}' };
const stream = { headers: { accept: 'text/event-stream' } };

async function textOf(fetch: Fetch, url: string, init: RequestInit = call): Promise<string> {
  return (await fetch(url, init)).text();
}

describe('sockets', () => {
  it('are their owner’s own: another owner’s calls that hang delay nobody', async () => {
    const server = await holdingServer();
    const safe = safeFetch({ limits });
    const hanging = Array.from({ length: 5 }, () =>
      failure(textOf(safe.fetchFor('a'), `${server.url}/hang`, { ...call, signal: AbortSignal.timeout(WIDE_MS) })),
    );
    await eventually(() => expect(server.held.size).toBe(limits.socketsPerOrigin), WIDE_MS);
    expect(await textOf(safe.fetchFor('b'), server.url)).toBe('ok');
    expect(server.held.size).toBe(limits.socketsPerOrigin);
    const waiting = textOf(safe.fetchFor('a'), server.url);
    for (const response of server.held) response.destroy();
    // the two that waited have their turn before it
    await eventually(() => expect(server.held.size).toBe(2), WIDE_MS);
    expect(await waiting).toBe('ok');
    await safe.close();
    expect(await Promise.all(hanging)).toHaveLength(5);
  });

  it('of event streams take no place of a call, and their own bound is waited for within the signal', async () => {
    const server = await holdingServer();
    const safe = safeFetch({ limits });
    const fetch = safe.fetchFor('a');
    const streams = await Promise.all([fetch(server.url, stream), fetch(server.url, stream)]);
    const texts = await Promise.all(Array.from({ length: 6 }, () => textOf(fetch, server.url)));
    expect(texts).toEqual(Array.from({ length: 6 }, () => 'ok'));
    const abort = new AbortController();
    const left = failure(fetch(server.url, { ...stream, signal: abort.signal }));
    const waits = fetch(server.url, stream);
    expect(await textOf(fetch, server.url)).toBe('ok');
    expect(server.held.size).toBe(2);
    abort.abort(new Error('left'));
    expect((await left).message).toBe('left');
    await streams[0].body?.cancel();
    expect((await waits).status).toBe(200);
    expect(server.held.size).toBe(2);
  });

  it('are no more than the bound, idle ones included, also where dials are given up', async () => {
    const server = await holdingServer();
    const safe = safeFetch({ limits });
    const fetch = safe.fetchFor('a');
    for (let round = 0; round < 5; round += 1) {
      const outcomes = Array.from({ length: 9 }, (_, index) => {
        const abort = new AbortController();
        const sent = textOf(fetch, server.url, { ...call, signal: abort.signal }).catch(() => 'left');
        if (index % 3 === 0) abort.abort();
        return sent;
      });
      expect((await Promise.all(outcomes)).filter((text) => text === 'ok')).toHaveLength(6);
      expect(server.sockets()).toBeLessThanOrEqual(limits.socketsPerOrigin);
    }
  });

  it('leave nothing behind when their owners are gone', async () => {
    const server = await holdingServer();
    const safe = safeFetch({ limits });
    const owners = Array.from({ length: 20 }, () => ({}));
    const texts = await Promise.all(owners.map((owner) => textOf(safe.fetchFor(owner), server.url)));
    expect(texts).toHaveLength(20);
    expect(safe.openLanes).toBe(20);
    // idle ones are dropped after four seconds
    await eventually(() => expect([safe.openLanes, server.sockets()]).toEqual([0, 0]), 2 * WIDE_MS);
    const refused = await tcpServer(() => undefined);
    const gone = `http://127.0.0.1:${refused.port}`;
    await closeAll();
    const later = safeFetch({ limits });
    expect(await failure(textOf(later.fetchFor('a'), gone))).toMatchObject({ reason: 'connection_refused' });
    const left = AbortSignal.abort(new Error('left'));
    expect((await failure(textOf(later.fetchFor('b'), gone, { ...call, signal: left }))).message).toBe('left');
    expect(later.openLanes).toBe(0);
  });
});

describe('a guarded request whose socket breaks while its admission is asked for', () => {
  it('that a server would keep for long end with their owner, what runs on them too, and nobody else’s', async () => {
    const server = await holdingServer();
    const safe = safeFetch({ limits });
    const owner = {};
    const mine = safe.fetchFor(owner);
    expect(await Promise.all([textOf(mine, server.url), textOf(safe.fetchFor('b'), server.url)])).toEqual(['ok', 'ok']);
    const hanging = failure(textOf(mine, `${server.url}/hang`));
    await eventually(() => expect(server.held.size).toBe(1), WIDE_MS);
    const open = server.sockets();
    await safe.release(owner);
    expect(await hanging).toMatchObject({ reason: 'http_error', sent: 'maybe' });
    await eventually(() => expect(server.sockets()).toBeLessThan(open), WIDE_MS);
    expect(safe.openLanes).toBe(1);
    expect(await textOf(safe.fetchFor('b'), server.url)).toBe('ok');
  });

  it('idle no longer than allowed here, whatever the server allows', async () => {
    const server = await httpServer((_request, response) => {
      response.setHeader('keep-alive', 'timeout=600');
      response.end('ok');
    });
    const safe = safeFetch({ limits: { ...limits, keepAliveMs: 1_100 } });
    expect(await textOf(safe.fetchFor('a'), `http://127.0.0.1:${server.port}`)).toBe('ok');
    expect(safe.openLanes).toBe(1);
    await eventually(() => expect(safe.openLanes).toBe(0), WIDE_MS);
  });

  it('dials none while it is admitted: the admission is handed back first', async () => {
    const safe = safeFetch({ limits });
    const dialled: number[] = [];
    const sockets: Socket[] = [];
    const breaking = await tcpServer((socket) => {
      sockets.push(socket);
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    });
    const gate = new RecordingGate({
      admit: async () => {
        await eventually(() => expect(sockets).toHaveLength(dialled.length + 1), WIDE_MS);
        dialled.push(breaking.connections());
        if (dialled.length > 1) return;
        const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
        for (const socket of sockets) socket.destroy();
        await closed;
      },
    });
    const url = `http://127.0.0.1:${breaking.port}`;
    expect(await withDispatchGate(gate, () => textOf(safe.fetch, url))).toBe('ok');
    expect(dialled).toEqual([1, 2]);
    expect(gate.events).toEqual(['admit', 'abandoned', 'admit', 'may write', 'written']);
    expect(breaking.connections()).toBe(2);
  });
});
