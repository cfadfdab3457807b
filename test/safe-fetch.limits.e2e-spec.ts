import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { answer, closeAll, failure, httpServer, pending, safeFetch, tcpServer } from './safe-fetch.servers.js';

const mebibyte = 1024 * 1024;

afterEach(closeAll);

function at(server: { port: number }): string {
  return `http://127.0.0.1:${String(server.port)}/mcp?key=SECRET`;
}

/** Writes pieces until the socket closes, minding back-pressure; resolves with the bytes it got rid of. */
function flood(socket: Socket, piece: string): Promise<number> {
  const write = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  const closed = new Promise<number>((resolve) => {
    socket.once('close', () => {
      resolve(socket.bytesWritten);
    });
  });
  socket.on('drain', write);
  write();
  return closed;
}

describe('bodies', () => {
  it('16 MiB pass, one byte more does not, with and without an announced length', async () => {
    const server = await httpServer((request, response) => {
      const extra = request.url?.startsWith('/more') === true ? 1 : 0;
      if (request.url?.includes('announced') === true) response.setHeader('content-length', 16 * mebibyte + extra);
      response.write(Buffer.alloc(16 * mebibyte));
      response.end(Buffer.alloc(extra));
    });
    const base = `http://127.0.0.1:${String(server.port)}`;
    const safe = safeFetch();
    for (const how of ['announced', 'chunked']) {
      const fits = await safe.fetch(`${base}/fits-${how}`);
      expect((await fits.arrayBuffer()).byteLength).toBe(16 * mebibyte);
      const more = async (): Promise<unknown> => (await safe.fetch(`${base}/more-${how}`)).arrayBuffer();
      expect(await failure(more())).toMatchObject({ reason: 'message_too_large', sent: 'maybe' });
    }
  });

  it.each([
    ['gzip', gzipSync(Buffer.alloc(200 * mebibyte))],
    ['br', brotliCompressSync(Buffer.alloc(200 * mebibyte), { params: { 1: 3 } })],
    ['deflate', deflateSync(Buffer.alloc(200 * mebibyte))],
    ['x-gzip', gzipSync(Buffer.alloc(200 * mebibyte))],
    ['gzip, gzip', gzipSync(gzipSync(Buffer.alloc(200 * mebibyte)))],
    ['gzip, deflate, br', brotliCompressSync(deflateSync(gzipSync(Buffer.alloc(200 * mebibyte))))],
  ])('cuts off a %s bomb', async (encoding, bomb) => {
    const server = await httpServer((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding, 'content-length': bomb.byteLength }).end(bomb);
    });
    const response = await safeFetch().fetch(at(server));
    let received = 0;
    const read = async (): Promise<void> => {
      for await (const chunk of response.body ?? []) received += chunk.byteLength;
    };
    expect(await failure(read())).toMatchObject({ reason: 'message_too_large' });
    expect(received).toBeLessThanOrEqual(16 * mebibyte);
  });

  it('cuts off a bomb within an event stream, and takes deflate without its frame for broken or within the bound', async () => {
    const server = await httpServer((request, response) => {
      const isStream = request.url === '/stream';
      response.writeHead(200, {
        'content-type': isStream ? 'text/event-stream' : 'application/json',
        'content-encoding': isStream ? 'gzip' : 'deflate',
      });
      response.end(
        isStream ? gzipSync(`data: ${'x'.repeat(64 * mebibyte)}`) : deflateRawSync(Buffer.alloc(64 * mebibyte)),
      );
    });
    const base = `http://127.0.0.1:${String(server.port)}`;
    const read = async (path: string): Promise<unknown> => (await safeFetch().fetch(`${base}${path}`)).text();
    expect(await failure(read('/stream'))).toMatchObject({ reason: 'message_too_large' });
    expect(await failure(read('/raw'))).toMatchObject({
      reason: expect.stringMatching(/message_too_large|http_error/),
    });
  });

  it('unpacks what fits, and says so when the encoding is broken', async () => {
    const server = await httpServer((request, response) => {
      const body = request.url === '/broken' ? Buffer.from('not gzip at all') : gzipSync('{"ok":true}');
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(body);
    });
    const base = `http://127.0.0.1:${String(server.port)}`;
    expect(await (await safeFetch().fetch(`${base}/`)).json()).toEqual({ ok: true });
    const broken = async (): Promise<unknown> => (await safeFetch().fetch(`${base}/broken`)).text();
    expect(await failure(broken())).toMatchObject({ reason: 'http_error' });
  });

  it('ends a dripping body with the caller’s own reason when the signal aborts, and closes the socket', async () => {
    const gone = pending<undefined>();
    const server = await tcpServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const drip = setInterval(() => socket.write('1\r\nx\r\n'), 5);
      socket.once('close', () => {
        clearInterval(drip);
        gone.resolve(undefined);
      });
    });
    const abort = new AbortController();
    const response = await safeFetch().fetch(at(server), { signal: abort.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    const reason = new Error('deadline');
    abort.abort(reason);
    const drained = async (): Promise<void> => {
      while ((await reader?.read())?.done !== true);
    };
    expect(await failure(drained())).toBe(reason);
    await gone.promise;
  });

  it('lets go of the socket when the reader cancels', async () => {
    const gone = pending<undefined>();
    const server = await tcpServer((socket) => {
      socket.on('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n');
      });
      socket.once('close', () => {
        gone.resolve(undefined);
      });
    });
    const response = await safeFetch().fetch(at(server));
    await response.body?.cancel();
    await gone.promise;
    expect(response.status).toBe(200);
  });

  it('says that the connection broke in the middle of an answer', async () => {
    const server = await tcpServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', () => socket.destroy());
    });
    const response = await safeFetch().fetch(at(server));
    const error = await failure(response.text());
    expect(error).toMatchObject({ reason: 'http_error', sent: 'maybe' });
    expect(error.message).not.toContain('SECRET');
  });
});

describe('event streams', () => {
  it('may go on far beyond the bound of a body, event by event', async () => {
    const event = `data: ${'x'.repeat(1_000)}\r\n\r\n`;
    const server = await httpServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'Text/Event-Stream; charset=utf-8' });
      response.end(event.repeat(500));
    });
    const response = await safeFetch({ limits: { bodyBytes: 2_000 } }).fetch(at(server));
    expect(await response.text()).toHaveLength(event.length * 500);
  });

  it('are cut off at one huge event, and at one line without an end', async () => {
    for (const piece of ['data: xxxxxxxxxxxxxxxx\n', 'x'.repeat(1_000)]) {
      const written = pending<number>();
      const server = await tcpServer((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n');
        void flood(socket, piece).then(written.resolve);
      });
      const response = await safeFetch({ limits: { bodyBytes: 100_000 } }).fetch(at(server));
      expect(await failure(response.text())).toMatchObject({ reason: 'message_too_large' });
      // What stays in the buffers of both sides comes on top.
      expect(await written.promise).toBeLessThan(20 * mebibyte);
    }
  });
});

describe('heads', () => {
  it.each([
    ['endless headers', 'HTTP/1.1 200 OK\r\n', `X-More: ${'y'.repeat(100)}\r\n`],
    ['one endless header', 'HTTP/1.1 200 OK\r\nX-More: ', 'y'.repeat(100)],
    ['endless interim answers', '', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
  ])('are cut off: %s', async (_name, start, piece) => {
    const written = pending<number>();
    const server = await tcpServer((socket) => {
      socket.once('data', () => {
        socket.write(start);
        void flood(socket, piece).then(written.resolve);
      });
    });
    expect(await failure(safeFetch().fetch(at(server)))).toMatchObject({ reason: 'message_too_large' });
    expect(await written.promise).toBeLessThan(20 * mebibyte);
  });

  it('have a bounded number of headers', async () => {
    const head = (count: number): string => `HTTP/1.1 200 OK${'\r\nX-A: b'.repeat(count)}`;
    const server = await tcpServer((socket) => {
      socket.once('data', (request: Buffer) => {
        socket.end(answer('ok', head(request.includes('/many') ? 256 : 255)));
      });
    });
    const base = `http://127.0.0.1:${String(server.port)}`;
    expect((await safeFetch().fetch(`${base}/few`)).status).toBe(200);
    expect(await failure(safeFetch().fetch(`${base}/many`))).toMatchObject({ reason: 'message_too_large' });
  });

  it('must be HTTP, with a status that exists', async () => {
    for (const text of ['SSH-2.0-OpenSSH_9.2\r\n', 'HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n']) {
      const server = await tcpServer((socket) => socket.once('data', () => socket.end(text)));
      expect(await failure(safeFetch().fetch(at(server)))).toMatchObject({ reason: 'http_error' });
    }
  });

  it('are waited for only so long', async () => {
    const server = await tcpServer(() => undefined);
    const error = await failure(safeFetch({ limits: { headersMs: 50 } }).fetch(at(server)));
    expect(error).toMatchObject({ reason: 'connection_timeout', sent: 'maybe' });
  });
});

describe('requests', () => {
  it('carry text, bytes and forms with the types of the standard, and the host of the URL', async () => {
    const server = await httpServer((request, response) => {
      const { host, 'content-type': type, 'user-agent': agent, 'content-length': length } = request.headers;
      response.end(JSON.stringify({ host, type, agent, length }));
    });
    const send = async (body: string | Uint8Array | URLSearchParams): Promise<unknown> =>
      (await safeFetch().fetch(at(server), { method: 'POST', body, headers: { Host: 'evil.test' } })).json();
    const own = { host: `127.0.0.1:${String(server.port)}`, agent: 'warren' };
    expect(await send('é')).toEqual({ ...own, type: 'text/plain;charset=UTF-8', length: '2' });
    expect(await send(new Uint8Array(3))).toEqual({ ...own, length: '3' });
    expect(await send(new URLSearchParams({ a: '1' }))).toMatchObject({
      type: 'application/x-www-form-urlencoded;charset=UTF-8',
      length: '3',
    });
  });

  it('reuse the socket, keep no cookie, and never use more sockets than allowed', async () => {
    const cookies: (string | undefined)[] = [];
    const server = await httpServer((request, response) => {
      cookies.push(request.headers.cookie);
      response.setHeader('set-cookie', 'a=1').end('ok');
    });
    const safe = safeFetch({ limits: { socketsPerOrigin: 2 } });
    const fetchText = async (): Promise<string> => (await safe.fetch(at(server))).text();
    await fetchText();
    // A socket is free again one turn of the event loop after its answer ended.
    await setImmediate();
    await fetchText();
    expect(server.connections()).toBe(1);
    expect(await Promise.all(Array.from({ length: 20 }, fetchText))).toHaveLength(20);
    expect(server.connections()).toBeLessThanOrEqual(2);
    expect(cookies.every((cookie) => cookie === undefined)).toBe(true);
  });

  it('end with the caller’s reason when aborted before or while waiting', async () => {
    const server = await tcpServer(() => undefined);
    const reason = new Error('stop');
    expect(await failure(safeFetch().fetch(at(server), { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(server.connections()).toBe(0);
    const abort = new AbortController();
    const waiting = failure(safeFetch().fetch(at(server), { signal: abort.signal }));
    abort.abort(reason);
    expect(await waiting).toBe(reason);
  });

  it('fail at once when the safe fetch is closed', async () => {
    const arrived = pending<undefined>();
    const server = await tcpServer((socket) => {
      socket.once('data', () => {
        arrived.resolve(undefined);
      });
    });
    const safe = safeFetch();
    const waiting = failure(safe.fetch(at(server)));
    await arrived.promise;
    await safe.close();
    expect(await waiting).toMatchObject({ name: 'OutboundError', sent: 'maybe' });
    expect(await failure(safe.fetch(at(server)))).toMatchObject({ name: 'OutboundError', sent: 'no' });
  });
});
