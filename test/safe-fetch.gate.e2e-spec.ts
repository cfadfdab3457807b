import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type DispatchGate, withDispatchGate } from '../src/dispatch-gate.js';
import { eventually } from './support/eventually.js';
import { held, RecordingGate } from './safe-fetch.recording-gate.js';
import { answer, closeAll, failure, type Listening, pending, safeFetch, tcpServer } from './safe-fetch.servers.js';

afterEach(closeAll);

/** A provider that counts every byte, and answers each complete `call` body. */
async function provider(reply = answer('done')): Promise<Listening & { bytes: () => number; calls: () => number }> {
  let bytes = 0;
  let calls = 0;
  const server = await tcpServer((socket) => {
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.byteLength;
      if (!chunk.subarray(-16).toString().endsWith('"call"}')) return;
      calls += 1;
      socket.write(calls === 1 ? reply : answer('done'));
    });
  });
  return { ...server, bytes: () => bytes, calls: () => calls };
}

const WIDE_MS = 10_000;

const call = { method: 'POST', body: '{"method":"call"}' };

function at(server: Listening, path = ''): string {
  return `http://127.0.0.1:${String(server.port)}/${path}`;
}

describe('a guarded request', () => {
  it('sends no byte before it is admitted, on a socket that is open by then', async () => {
    const server = await provider();
    const admission = pending<undefined>();
    const asked = pending<number>();
    const gate = new RecordingGate({
      admit: async () => {
        asked.resolve(server.connections());
        await admission.promise;
      },
    });
    const response = withDispatchGate(gate, () => safeFetch().fetch(at(server), call));
    await asked.promise;
    // The connection may still be on its way to the server's own event loop; give both sides many turns.
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    expect(server.connections()).toBe(1);
    expect(server.bytes()).toBe(0);
    admission.resolve(undefined);
    expect(await (await response).text()).toBe('done');
    expect(gate.events).toEqual(['admit', 'may write', 'written']);
    expect(server.connections()).toBe(1);
  });

  it('is said to be written when all its bytes were handed to the socket, before any answer', async () => {
    const server = await provider();
    let socket: Socket | undefined;
    const onHeaders = (message: unknown): void => {
      ({ socket } = message as { socket: Socket });
    };
    const body = `{"pad":"${'x'.repeat(3_000_000)}","method":"call"}`;
    const handedOver = pending<[bytes: number, calls: number]>();
    const gate = new RecordingGate({
      written: () => {
        handedOver.resolve([socket?.bytesWritten ?? 0, server.calls()]);
      },
    });
    subscribe('undici:client:sendHeaders', onHeaders);
    try {
      await withDispatchGate(gate, () => safeFetch().fetch(at(server), { method: 'POST', body }));
    } finally {
      unsubscribe('undici:client:sendHeaders', onHeaders);
    }
    const [bytes, calls] = await handedOver.promise;
    expect(bytes).toBeGreaterThan(body.length);
    expect(calls).toBe(0);
    expect(server.bytes()).toBe(bytes);
    expect(gate.events).toEqual(['admit', 'may write', 'written']);
  });

  it('is asked about in the same turn as its first byte leaves', async () => {
    const server = await provider();
    let socket: Socket | undefined;
    const onConnected = (message: unknown): void => {
      ({ socket } = message as { socket: Socket });
    };
    const written: (number | undefined)[] = [];
    const gate = new RecordingGate({
      mayWrite: () => {
        written.push(socket?.bytesWritten);
        queueMicrotask(() => written.push(socket?.bytesWritten));
        return true;
      },
    });
    subscribe('undici:client:connected', onConnected);
    try {
      await withDispatchGate(gate, () => safeFetch().fetch(at(server), call));
    } finally {
      unsubscribe('undici:client:connected', onConnected);
    }
    expect(written).toEqual([0, server.bytes()]);
  });

  it('fails with the gate’s own error and sends nothing when it is not admitted', async () => {
    const server = await provider();
    const refusal = new Error('grant gone');
    const gate = new RecordingGate({ admit: () => Promise.reject(refusal) });
    expect(await failure(withDispatchGate(gate, () => safeFetch().fetch(at(server), call)))).toBe(refusal);
    expect(gate.events).toEqual(['admit']);
    expect(server.bytes()).toBe(0);
  });

  it('asks again when the admission expired before the first byte', async () => {
    const server = await provider();
    const answers = [false, false, true];
    const gate = new RecordingGate({ mayWrite: () => answers.shift() ?? false });
    const response = await withDispatchGate(gate, () => safeFetch().fetch(at(server), call));
    expect(await response.text()).toBe('done');
    const tooLate = ['admit', 'too late', 'abandoned'];
    expect(gate.events).toEqual([...tooLate, ...tooLate, 'admit', 'may write', 'written']);
    expect(server.calls()).toBe(1);
    expect(server.connections()).toBe(1);
  });

  it('gives up after three expired admissions, with nothing sent', async () => {
    const server = await provider();
    const gate = new RecordingGate({ mayWrite: () => false });
    const error = await failure(withDispatchGate(gate, () => safeFetch().fetch(at(server), call)));
    expect(error).toMatchObject({ reason: 'admission_expired', sent: 'no' });
    expect(gate.events.filter((event) => event === 'admit')).toHaveLength(3);
    expect(gate.events.filter((event) => event === 'abandoned')).toHaveLength(3);
    expect(server.bytes()).toBe(0);
  });

  it('is admitted anew for each hop of a redirect', async () => {
    const server = await provider('HTTP/1.1 307 Moved\r\nLocation: /mcp/\r\nContent-Length: 0\r\n\r\n');
    const gate = new RecordingGate();
    const response = await withDispatchGate(gate, () => safeFetch().fetch(at(server, 'mcp'), call));
    expect(response.url).toBe(at(server, 'mcp/'));
    expect(gate.events).toEqual(['admit', 'may write', 'written', 'admit', 'may write', 'written']);
  });

  it('asks for no admission when the provider cannot be reached', async () => {
    const server = await provider();
    await closeAll();
    const gate = new RecordingGate();
    const error = await failure(withDispatchGate(gate, () => safeFetch().fetch(at(server), call)));
    expect(error).toMatchObject({ reason: 'connection_refused', sent: 'no' });
    expect(gate.events).toEqual([]);
  });

  it('hands the admission back when the caller leaves while it is asked for', async () => {
    const server = await provider();
    const admission = pending<undefined>();
    const asked = pending<undefined>();
    const gate = new RecordingGate({
      admit: async () => {
        asked.resolve(undefined);
        await admission.promise;
      },
    });
    const abort = new AbortController();
    const left = failure(
      withDispatchGate(gate, () => safeFetch().fetch(at(server), { ...call, signal: abort.signal })),
    );
    await asked.promise;
    const reason = new Error('left');
    abort.abort(reason);
    expect(await left).toBe(reason);
    expect(gate.events).toEqual(['admit']);
    admission.resolve(undefined);
    await setImmediate();
    expect(gate.events).toEqual(['admit', 'abandoned']);
    expect(server.bytes()).toBe(0);
  });

  it('asks for no admission while it waits for a socket, and leaves the line when its caller does', async () => {
    const answers: (() => void)[] = [];
    const server = await tcpServer((socket) => socket.on('data', () => answers.push(() => socket.write(answer('ok')))));
    const safe = safeFetch({ limits: { socketsPerOrigin: 1 } });
    const other = safe.fetch(at(server)).then((response) => response.text());
    await eventually(() => expect(answers).toHaveLength(1), WIDE_MS);
    const abort = new AbortController();
    const gates = [new RecordingGate(), new RecordingGate()] as const;
    const left = failure(withDispatchGate(gates[0], () => safe.fetch(at(server), { ...call, signal: abort.signal })));
    const waiting = withDispatchGate(gates[1], () => safe.fetch(at(server), call));
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    abort.abort(new Error('left'));
    expect((await left).message).toBe('left');
    expect(gates.map(({ events }) => events)).toEqual([[], []]);
    answers.pop()?.();
    expect(await other).toBe('ok');
    await eventually(() => expect(answers).toHaveLength(1), WIDE_MS);
    answers.pop()?.();
    expect(await (await waiting).text()).toBe('ok');
    expect(gates.map(({ events }) => events)).toEqual([[], ['admit', 'may write', 'written']]);
    expect(server.connections()).toBe(1);
  });

  it('counts as written when the provider breaks off without an answer', async () => {
    const server = await tcpServer((socket) => socket.once('data', () => socket.destroy()));
    const gate = new RecordingGate();
    const error = await failure(withDispatchGate(gate, () => safeFetch().fetch(at(server), call)));
    expect(error).toMatchObject({ reason: 'http_error', sent: 'maybe' });
    expect(gate.events).toEqual(['admit', 'may write', 'written']);
    expect(server.connections()).toBe(1);
  });

  it('lets other requests of the same operation pass without asking', async () => {
    const server = await tcpServer((socket) => socket.on('data', () => socket.write(answer('ok'))));
    const gate = new RecordingGate();
    await withDispatchGate(gate, async () => {
      const safe = safeFetch();
      await (await safe.fetch(at(server))).text();
      await (await safe.fetch(at(server), { method: 'POST', body: '{"method":"ping"}' })).text();
    });
    expect(gate.events).toEqual([]);
  });

  it('finds a socket each, opened before admission, when many wait side by side', async () => {
    const server = await tcpServer((socket) => socket.on('data', () => socket.write(answer('ok'))));
    const safe = safeFetch();
    const fetchText = async (gate: DispatchGate): Promise<string> =>
      withDispatchGate(gate, async () => (await safe.fetch(at(server), call)).text());
    const together = held(16);
    const texts = Promise.all(together.gates.map(fetchText));
    await together.allAsked;
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    expect(server.connections()).toBe(16);
    together.release();
    expect(await texts).toEqual(Array.from({ length: 16 }, () => 'ok'));
    for (const gate of together.gates) expect(gate.events).toEqual(['admit', 'may write', 'written']);
    // Afterwards idle sockets are there, so none is opened for the next one.
    await setImmediate();
    expect(await fetchText(new RecordingGate())).toBe('ok');
    expect(server.connections()).toBe(16);
  });

  it('opens a socket beside the idle one when two wait', async () => {
    const server = await tcpServer((socket) => socket.on('data', () => socket.write(answer('ok'))));
    const safe = safeFetch();
    await (await safe.fetch(at(server))).text();
    await setImmediate();
    const two = held(2);
    const responses = Promise.all(two.gates.map((gate) => withDispatchGate(gate, () => safe.fetch(at(server), call))));
    await two.allAsked;
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    expect(server.connections()).toBe(2);
    two.release();
    expect((await responses).map(({ status }) => status)).toEqual([200, 200]);
    expect(server.connections()).toBe(2);
  });
});
