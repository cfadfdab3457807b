import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { ReadySockets } from '../src/safe-fetch.ready-sockets.js';
import { answer, closeAll, type Listening, pending, safeFetch, tcpServer } from './safe-fetch.servers.js';

afterEach(closeAll);

const origin = 'http://h.test';

async function socketTo(server: Listening): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

describe('warm', () => {
  it('opens the socket that the next request uses', async () => {
    const server = await tcpServer((socket) => socket.once('data', () => socket.end(answer('ok'))));
    const safe = safeFetch();
    const url = `http://127.0.0.1:${String(server.port)}/`;
    await safe.warm(url);
    expect(await (await safe.fetch(url)).text()).toBe('ok');
    expect(server.connections()).toBe(1);
  });

  it('leaves no trace of a socket that the provider closed meanwhile', async () => {
    const sockets: Socket[] = [];
    const server = await tcpServer((socket) => {
      sockets.push(socket);
      socket.once('data', () => socket.end(answer('ok')));
    });
    const safe = safeFetch();
    const url = `http://127.0.0.1:${String(server.port)}/`;
    await safe.warm(url);
    while (sockets.length === 0) await setImmediate();
    const closed = once(sockets[0] as Socket, 'close');
    sockets[0]?.end();
    await closed;
    await setImmediate();
    expect(await (await safe.fetch(url)).text()).toBe('ok');
    expect(server.connections()).toBe(2);
  });
});

describe('ready sockets', () => {
  it('are dropped after 4 seconds', async () => {
    const server = await tcpServer(() => undefined);
    const ready = new ReadySockets(2);
    const socket = await socketTo(server);
    const closed = once(socket, 'close');
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      ready.put(origin, socket);
      jest.advanceTimersByTime(3_999);
      expect([ready.count(origin), socket.destroyed]).toEqual([1, false]);
      jest.advanceTimersByTime(1);
      await closed;
      expect(ready.count(origin)).toBe(0);
      expect(ready.take(origin)).toBeUndefined();
    } finally {
      jest.useRealTimers();
    }
  });

  it('are handed out once, to their own origin, and not beyond the bound', async () => {
    const server = await tcpServer(() => undefined);
    const ready = new ReadySockets(1);
    const [first, second] = [await socketTo(server), await socketTo(server)];
    ready.put(origin, first);
    ready.put(origin, second);
    expect(second.destroyed).toBe(true);
    expect(ready.take('http://other.test')).toBeUndefined();
    expect(ready.take(origin)).toBe(first);
    expect(ready.take(origin)).toBeUndefined();
    first.destroy();
  });

  it('are ended when the other side speaks first', async () => {
    const spoken = pending<undefined>();
    const server = await tcpServer((socket) => {
      socket.write('220 mail.test ESMTP\r\n');
      socket.once('close', () => {
        spoken.resolve(undefined);
      });
    });
    const ready = new ReadySockets(1);
    ready.put(origin, await socketTo(server));
    await spoken.promise;
    expect(ready.count(origin)).toBe(0);
  });
});
