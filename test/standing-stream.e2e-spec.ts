import { afterEach, describe, expect, it } from '@jest/globals';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { ServerResponse } from 'node:http';
import { HttpTransport } from '../src/connections/session/http-transport.js';
import { closeAll, httpServer, safeFetch } from './safe-fetch.servers.js';
import { eventually } from './support/eventually.js';

const WIDE_MS = 30_000;
const CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' } as const;

describe('the stream on which an HTTP provider may speak by itself', () => {
  const transports: HttpTransport[] = [];

  afterEach(async () => {
    for (const transport of transports.splice(0)) await transport.close();
    await closeAll();
  });

  /** A session whose standing streams the provider treats as told; with the times they were opened at, milliseconds. */
  async function open(stream: (response: ServerResponse, count: number) => void) {
    const openedAt: number[] = [];
    const heard: JSONRPCMessage[] = [];
    const { port } = await httpServer((request, response) => {
      if (request.method !== 'GET') return void response.writeHead(202).end();
      openedAt.push(performance.now());
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream(response, openedAt.length);
    });
    const url = `http://127.0.0.1:${port}/mcp`;
    const transport = new HttpTransport({ transport: 'http', url, headers: {} }, safeFetch().fetch);
    transports.push(transport);
    transport.onmessage = (message) => void heard.push(message);
    await transport.start();
    await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const gaps = (): number[] => openedAt.slice(1).map((at, index) => at - (openedAt[index] ?? 0));
    return { heard, gaps };
  }

  it('is opened again at growing distances when it ends at once, and still heard then', async () => {
    const { heard, gaps } = await open((response, count) => {
      // whatever the provider asks for
      if (count < 3) response.end('retry: 0\n\n');
      else response.write(`data: ${JSON.stringify(CHANGED)}\n\n`);
    });
    await eventually(() => expect(heard).toEqual([CHANGED]), WIDE_MS);
    const [first = 0, second = 0, ...more] = gaps();
    // a timer may be early by a hair
    expect(first).toBeGreaterThan(950);
    expect(second).toBeGreaterThan(1_950);
    expect(more).toEqual([]);
  });
});
