import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { StalledClients } from '../src/stalled-clients.js';
import { RawSocket, requestText } from './support/raw-socket.js';

/** More than the buffers of two sockets hold. */
const LARGE = Buffer.alloc(48 * 1024 * 1024, 'x');
const STALL_MS = 400;
const BEHIND_MS = 1_500;
/** For the bound that is not to be met in a test, on a loaded machine either. */
const FAR_MS = 60_000;
const EVENT = `data: ${'x'.repeat(10_000)}\n\n`;

let server: Server;
let url: string;
let client: RawSocket;
let answer: (response: ServerResponse) => void;
/** Resolves when the server's side of the answer is over; whether all of it left. */
let over: Promise<boolean>;
let settle: (left: boolean) => void;

/** Serves with these bounds, and connects a client that reads nothing yet. */
async function start(stallMs: number, behindMs = FAR_MS): Promise<void> {
  server = createServer((_request, response) => answer(response));
  over = new Promise((resolve) => {
    settle = resolve;
    server.once('connection', (socket) => socket.once('close', () => resolve(false)));
  });
  new StalledClients(server, { checkMs: 50, stallMs, behindMs }).watch();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = await new RawSocket(url).opened();
}

afterEach(async () => {
  client.end();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

/** Settles when the system has taken all of it, or the connection was cut before. */
function sendLarge(response: ServerResponse): void {
  response.socket?.once('drain', () => settle(true));
  response.end(LARGE);
}

/** Reads a piece after the other, with a pause between two. */
async function readSlowly(bytes: number, pauseMs: number): Promise<void> {
  for (;;) {
    await delay(pauseMs);
    if (client.socket.destroyed) return;
    client.socket.read(bytes);
  }
}

describe('a client', () => {
  it('that takes nothing of a large answer is cut off', async () => {
    await start(STALL_MS);
    answer = sendLarge;
    client.write(requestText('GET', '/'));
    expect(await over).toBe(false);
  });

  it('that takes nothing of an event stream is cut off', async () => {
    await start(STALL_MS);
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const more = (): void => {
        while (!response.destroyed && response.write(EVENT));
      };
      response.on('drain', more);
      more();
    };
    client.write(requestText('GET', '/'));
    expect(await over).toBe(false);
  });

  it('that takes a little at a time, and is behind all the time, is cut off later', async () => {
    await start(FAR_MS, BEHIND_MS);
    answer = sendLarge;
    const began = performance.now();
    client.write(requestText('GET', '/'));
    const reading = readSlowly(64 * 1024, 5);
    expect(await over).toBe(false);
    expect(performance.now() - began).toBeGreaterThan(BEHIND_MS);
    await reading;
  });

  it('that pauses for less than the bound gets all of it', async () => {
    await start(FAR_MS);
    answer = sendLarge;
    client.write(requestText('GET', '/'));
    await delay(STALL_MS / 4);
    client.read();
    expect(await over).toBe(true);
  });

  it('that waits long for its answer is left alone', async () => {
    await start(STALL_MS);
    let finish = (): void => undefined;
    answer = (response) => (finish = () => void response.end('late', () => settle(true)));
    client.read().write(requestText('GET', '/'));
    await delay(STALL_MS * 3);
    finish();
    expect(await over).toBe(true);
  });

  it('that has read what waited for it is left alone from then on', async () => {
    const stallMs = 2_000;
    await start(stallMs);
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(LARGE, () => setTimeout(() => response.end('last', () => settle(true)), stallMs * 2));
    };
    client.write(requestText('GET', '/', { Connection: 'close' }));
    await delay(STALL_MS / 4);
    client.read();
    expect(await over).toBe(true);
    await client.closed;
    expect(client.received.endsWith('last\r\n0\r\n\r\n')).toBe(true);
  });
});
