import { SSEClientTransport, type FetchLike, type Transport } from '@modelcontextprotocol/client';
import type { HttpLaunch } from '../connection.launch.js';

/** The HTTP+SSE transport of 2024-11-05, for providers that answer Streamable HTTP with 400, 404 or 405. */
export function legacySseTransport(launch: HttpLaunch, fetch: FetchLike): Transport {
  return new SSEClientTransport(new URL(launch.url), {
    fetch,
    requestInit: { headers: launch.headers },
    redirectPolicy: 'follow',
  });
}
