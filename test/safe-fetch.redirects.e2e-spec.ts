import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { closeAll, failure, httpServer, type Listening, safeFetch } from './safe-fetch.servers.js';

interface Seen {
  method: string | undefined;
  url: string | undefined;
  authorization: string | undefined;
  body: string;
}

afterEach(closeAll);

/** Redirects as `locationOf` says, and answers what it was asked where that says nothing. */
async function redirecting(
  locationOf: (url: string) => [status: number, location: string] | undefined,
): Promise<Listening & { seen: Seen[] }> {
  const seen: Seen[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method, url, headers } = request;
    seen.push({ method, url, authorization: headers.authorization, body: Buffer.concat(chunks).toString() });
    const redirect = locationOf(url ?? '');
    if (redirect === undefined) response.end('arrived');
    else response.writeHead(redirect[0], { location: redirect[1] }).end('moved');
  };
  const server = await httpServer((request, response) => void handle(request, response));
  return { ...server, seen };
}

const post = { method: 'POST', body: '{"a":1}', headers: { authorization: 'Bearer token-1', 'x-key': 'k' } };

describe('redirects within the origin', () => {
  it.each([301, 302, 303, 307, 308])('%i keeps method, body and credentials', async (status) => {
    const server = await redirecting((url) => (url === '/mcp' ? [status, '/mcp/'] : undefined));
    const response = await safeFetch().fetch(`http://127.0.0.1:${String(server.port)}/mcp`, post);
    expect(await response.text()).toBe('arrived');
    expect(response).toMatchObject({ url: `http://127.0.0.1:${String(server.port)}/mcp/`, redirected: true });
    expect(server.seen).toEqual(
      ['/mcp', '/mcp/'].map((url) => ({ method: 'POST', url, authorization: 'Bearer token-1', body: '{"a":1}' })),
    );
  });

  it('follows five in a row, not six, and ends a loop', async () => {
    const server = await redirecting((url) => {
      const left = Number(url.slice(1));
      return left > 0 ? [307, `/${String(left - 1)}`] : url === '/loop' ? [302, '/loop'] : undefined;
    });
    const at = (path: string): string => `http://127.0.0.1:${String(server.port)}/${path}`;
    expect(await (await safeFetch().fetch(at('5'))).text()).toBe('arrived');
    expect(await failure(safeFetch().fetch(at('6')))).toMatchObject({ reason: 'redirect_refused', sent: 'maybe' });
    server.seen.length = 0;
    expect(await failure(safeFetch().fetch(at('loop')))).toMatchObject({ reason: 'redirect_refused' });
    expect(server.seen).toHaveLength(6);
  });

  it('follows for a caller that asks for "manual", and refuses for one that asks for "error"', async () => {
    const server = await redirecting((url) => (url === '/a' ? [308, 'b'] : undefined));
    const url = `http://127.0.0.1:${String(server.port)}/a`;
    expect((await safeFetch().fetch(url, { redirect: 'manual' })).url).toMatch(/\/b$/u);
    expect(await failure(safeFetch().fetch(url, { redirect: 'error' }))).toMatchObject({ reason: 'redirect_refused' });
  });

  it('leaves a redirect status without a location, and 304, to the caller', async () => {
    const server = await httpServer((request, response) =>
      response.writeHead(request.url === '/304' ? 304 : 302).end(),
    );
    const at = `http://127.0.0.1:${String(server.port)}`;
    expect((await safeFetch().fetch(`${at}/302`)).status).toBe(302);
    expect((await safeFetch().fetch(`${at}/304`)).status).toBe(304);
  });
});

describe('other redirects', () => {
  it('are refused before the other origin is dialled', async () => {
    const other = await redirecting(() => undefined);
    const self: { port?: number } = {};
    const targets = [
      `http://127.0.0.1:${String(other.port)}/`,
      `http://localhost:${String(other.port)}/`,
      `//127.0.0.1:${String(other.port)}/`,
      'https://127.0.0.1/',
      'http://169.254.169.254/latest/meta-data/',
      'file:///etc/passwd',
      'http://',
      'http://user:pw@self/',
    ];
    const server = await redirecting((url) => [307, targets[Number(url.slice(1))]?.replace('self', selfHost()) ?? '/']);
    self.port = server.port;
    function selfHost(): string {
      return `127.0.0.1:${String(self.port)}`;
    }
    for (const index of targets.keys()) {
      const error = await failure(safeFetch().fetch(`http://${selfHost()}/${String(index)}`, post));
      expect(error).toMatchObject({ name: 'OutboundError', reason: 'redirect_refused', sent: 'maybe' });
      expect(error.message).not.toMatch(/pw|token-1/u);
    }
    expect(other.connections()).toBe(0);
    expect(server.seen).toHaveLength(targets.length);
  });
});
