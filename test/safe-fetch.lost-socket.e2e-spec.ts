import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { withDispatchGate } from '../src/dispatch-gate.js';
import type { SafeFetch } from '../src/safe-fetch.js';
import { RecordingGate } from './safe-fetch.recording-gate.js';
import { answer, closeAll, failure, type Listening, safeFetch, tcpServer } from './safe-fetch.servers.js';

afterEach(closeAll);

/** A provider that answers each request whose body ends with `}`, and counts them. */
async function provider(): Promise<Listening & { sockets: Socket[]; requests: () => number }> {
  const sockets: Socket[] = [];
  let requests = 0;
  const server = await tcpServer((socket) => {
    sockets.push(socket);
    socket.on('data', (chunk: Buffer) => {
      if (!chunk.toString().endsWith('}')) return;
      requests += 1;
      socket.write(answer('done'));
    });
  });
  return { ...server, sockets, requests: () => requests };
}

/**
 * Resets these so that the client, in this same process, learns of it only after it has taken one for its next request
 * and before it writes: it looks at its socket once more, in the next turn of the event loop, and only there can the news
 * come in between.
 */
async function resetUnseen(sockets: readonly Socket[]): Promise<void> {
  await setImmediate();
  for (const socket of sockets) socket.resetAndDestroy();
}

const post = async (safe: SafeFetch, { port }: Listening, method: string): Promise<string> => {
  const init = { method: 'POST', body: JSON.stringify({ method }) };
  return (await safe.fetch(`http://127.0.0.1:${String(port)}/`, init)).text();
};

describe('a kept socket that the provider resets right before it is used', () => {
  it('is no loss to a guarded request, which is admitted anew and sent once', async () => {
    const server = await provider();
    const safe = safeFetch();
    await post(safe, server, 'first');
    await setImmediate();
    const gate: RecordingGate = new RecordingGate({
      admit: async () => {
        if (gate.events.length === 1) await resetUnseen(server.sockets);
      },
    });
    expect(await withDispatchGate(gate, () => post(safe, server, 'call'))).toBe('done');
    expect(gate.events).toEqual(['admit', 'abandoned', 'admit', 'may write', 'written']);
    expect(server.requests()).toBe(2);
  });

  it('is no loss to any other request', async () => {
    const server = await provider();
    const safe = safeFetch();
    await post(safe, server, 'first');
    await resetUnseen(server.sockets);
    expect(await post(safe, server, 'ping')).toBe('done');
    expect(server.requests()).toBe(2);
  });

  it('is not replaced for ever', async () => {
    const server = await provider();
    const safe = safeFetch();
    const gate = new RecordingGate({
      admit: async () => {
        await post(safe, server, 'other');
        await resetUnseen(server.sockets);
      },
    });
    const refused = await failure(withDispatchGate(gate, () => post(safe, server, 'call')));
    expect(refused).toMatchObject({ reason: 'http_error', sent: 'no' });
    expect(gate.events.filter((event) => event === 'admit')).toHaveLength(3);
  });
});
