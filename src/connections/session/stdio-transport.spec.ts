import { describe, expect, it } from '@jest/globals';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { PassThrough, Writable } from 'node:stream';
import { type DispatchGate, withDispatchGate } from '../../dispatch-gate.js';
import type { Subprocess } from '../../subprocess.js';
import { StdioTransport } from './stdio-transport.js';

/** A child whose pipe takes what is written only when told to. */
class SlowReader {
  /** What got into the pipe. */
  readonly written: string[] = [];
  readonly stdout = new PassThrough();
  readonly exited = new Promise<never>(() => undefined);
  readonly pid = 1;
  reads = false;
  stopped = 0;
  private resume = (): void => undefined;
  private fail = (): void => undefined;
  readonly stdin = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      this.resume = () => {
        this.written.push(chunk.toString());
        done();
      };
      this.fail = () => done(new Error('destroyed'));
      if (this.reads) this.resume();
    },
    // as a pipe does, it gives back what it did not take
    destroy: (error, done) => {
      this.fail();
      done(error);
    },
  });

  constructor() {
    this.stdin.on('error', () => undefined);
  }

  readOnce(): void {
    this.resume();
  }

  read(): void {
    this.reads = true;
    this.resume();
  }

  stop(): Promise<void> {
    this.stopped += 1;
    return Promise.resolve();
  }
}

/** How many admissions are held, for how many calls. */
class Admissions {
  held = 0;
  asked = 0;
  most = 0;
  hold = true;

  gate(): DispatchGate {
    const end = (): void => {
      this.held -= 1;
    };
    return {
      guards: (body) => body.includes('tools/call'),
      admit: async () => {
        await Promise.resolve();
        this.asked += 1;
        this.held += 1;
        this.most = Math.max(this.most, this.held);
      },
      mayWrite: () => this.hold,
      written: end,
      abandoned: end,
    };
  }
}

const call = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'x' } });
const cancelled = (requestId: number): JSONRPCMessage => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});

async function open(maximumMessageBytes = 10_000) {
  const child = new SlowReader();
  // only what a transport uses of a process
  const transport = new StdioTransport(child as unknown as Subprocess, maximumMessageBytes);
  const answers: JSONRPCMessage[] = [];
  transport.onmessage = (message: JSONRPCMessage) => void answers.push(message);
  await transport.start();
  const admissions = new Admissions();
  const send = (message: JSONRPCMessage) => withDispatchGate(admissions.gate(), () => transport.send(message));
  return { child, transport, answers, admissions, send };
}

/** As the protocol client does with a ping; what cannot be sent any more is of no account. */
function answerEverything(transport: StdioTransport): void {
  transport.onmessage = (message: JSONRPCMessage) => {
    if (!('method' in message && 'id' in message)) return;
    void transport.send({ jsonrpc: '2.0', id: message.id, result: {} }).catch(() => undefined);
  };
}

/** Everything that can happen without the pipe has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('StdioTransport', () => {
  it('admits nobody while earlier messages wait for room in the pipe', async () => {
    const { child, admissions, send } = await open();
    const earlier = send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const calls = [2, 3, 4].map((id) => send(call(id)));
    await settled();
    expect(admissions.asked).toBe(0);
    child.read();
    await Promise.all([earlier, ...calls]);
    expect(child.written.map((line) => (JSON.parse(line) as { id: number }).id)).toEqual([1, 2, 3, 4]);
    expect([admissions.asked, admissions.most, admissions.held]).toEqual([3, 1, 0]);
  });

  it('holds one admission at most, and ends the session when it lapses before the call has begun', async () => {
    const { child, admissions, send } = await open();
    const calls = [1, 2, 3, 4].map((id) => send(call(id)));
    const outcomes = Promise.allSettled(calls);
    await settled();
    expect([admissions.asked, admissions.held, admissions.most]).toEqual([1, 1, 1]);
    admissions.hold = false;
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'interrupted', sent: 'no' } });
    }
    expect([admissions.held, admissions.asked, child.stopped, child.written]).toEqual([0, 1, 1, []]);
  });

  it('lets a cancelled call leave the line; the provider hears nothing of it', async () => {
    const { child, admissions, send } = await open();
    const earlier = send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const [waiting, queued, stays] = [2, 3, 4].map((id) => send(call(id)));
    const left = Promise.allSettled([waiting, queued]);
    await settled();
    await Promise.all([send(cancelled(3)), send(cancelled(2))]);
    const cancellation = { status: 'rejected', reason: { kind: 'cancelled', sent: 'no' } };
    expect(await left).toMatchObject([cancellation, cancellation]);
    child.read();
    await Promise.all([earlier, stays]);
    expect(child.written.map((line) => (JSON.parse(line) as { id: number }).id)).toEqual([1, 4]);
    expect(admissions.asked).toBe(1);
    await send(cancelled(4));
    expect(child.written).toHaveLength(3);
  });

  it('is stuck when a call was given up while a part of it waits for room, until the provider reads', async () => {
    const { child, transport, send } = await open();
    const large = { ...call(1), params: { name: 'x'.repeat(10_000) } } as JSONRPCMessage;
    const sent = send(large);
    await settled();
    expect(transport.isStuck).toBe(false);
    // the first part is taken, the rest is not
    child.readOnce();
    await settled();
    expect([child.written.length, transport.isStuck]).toEqual([1, false]);
    const cancellation = send(cancelled(1));
    expect(transport.isStuck).toBe(true);
    child.read();
    await Promise.all([sent, cancellation]);
    expect(transport.isStuck).toBe(false);
  });

  it('is stuck as well when the call was given up before its beginning was taken', async () => {
    const { child, transport, send } = await open();
    const large = { ...call(1), params: { name: 'x'.repeat(10_000) } } as JSONRPCMessage;
    const sent = send(large);
    await settled();
    expect(child.written).toEqual([]);
    const cancellation = send(cancelled(1));
    child.readOnce();
    await settled();
    expect([child.written.length, transport.isStuck]).toEqual([1, true]);
    child.read();
    await Promise.all([sent, cancellation]);
    expect(transport.isStuck).toBe(false);
  });

  it('reads no more of a provider that asks without listening, and goes on when it listens', async () => {
    const { child, transport } = await open();
    answerEverything(transport);
    const count = 50_000;
    let asked = 0;
    const ask = (): void => {
      let hasRoom = true;
      while (hasRoom && asked < count)
        hasRoom = child.stdout.write(`{"jsonrpc":"2.0","id":${asked++},"method":"ping"}\n`);
      if (asked < count) child.stdout.once('drain', ask);
    };
    ask();
    for (let turn = 0; turn < 100; turn += 1) await settled();
    expect([child.stdout.isPaused(), asked < 5_000, child.stdin.writableLength < 100_000]).toEqual([true, true, true]);
    child.read();
    while (child.written.length < count) await settled();
    expect(child.written.map((line) => (JSON.parse(line) as { id: number }).id)).toEqual([...Array(count).keys()]);
  });

  it('holds few answers to large questions', async () => {
    const { child, transport } = await open(1_000_000);
    answerEverything(transport);
    for (let asked = 0; asked < 20; asked += 1) {
      child.stdout.write(`{"jsonrpc":"2.0","id":"${'x'.repeat(500_000)}","method":"ping"}\n`);
      await settled();
    }
    expect(child.stdout.isPaused()).toBe(true);
    expect(child.stdin.writableLength).toBeLessThan(2_500_000);
    await transport.close();
    expect(child.stdout.isPaused()).toBe(false);
  });

  it('is not stuck by a small call that was given up', async () => {
    const { child, transport, send } = await open();
    child.read();
    await send(call(1));
    child.reads = false;
    void send(cancelled(1));
    await settled();
    expect(transport.isStuck).toBe(false);
    child.read();
  });

  describe('given an oversize line', () => {
    const large = 'x'.repeat(500);
    const failed = (id: number) => ({ id, error: { data: { warren: 'too_large' } } });

    async function opened(...ids: number[]) {
      const session = await open(100);
      session.child.read();
      for (const id of ids) await session.send(call(id));
      return session;
    }

    it.each([
      ['a notification', `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${large}"}}`],
      ['an answer to nobody', `{"jsonrpc":"2.0","id":9,"result":{"text":"${large}"}}`],
      ['an answer that tells no id', `{"jsonrpc":"2.0","result":{"text":"${large}"}`],
    ])('fails none of several callers: %s', async (_, line) => {
      const { child, answers } = await opened(1, 2);
      child.stdout.write(`${line}\n{"jsonrpc":"2.0","id":1,"result":{}}\n`);
      await settled();
      expect(answers).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
    });

    it('fails the caller it answers', async () => {
      const { child, answers } = await opened(1, 2);
      child.stdout.write(`{"jsonrpc":"2.0","result":{"text":"${large}"},"id":2}\n`);
      await settled();
      expect(answers).toMatchObject([failed(2)]);
    });

    it('fails the only caller where it tells no id, but not for a notification', async () => {
      const { child, answers } = await opened(1);
      child.stdout.write(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${large}"}}\n`);
      await settled();
      expect(answers).toEqual([]);
      child.stdout.write(`{"jsonrpc":"2.0","result":{"text":"${large}"}\n`);
      await settled();
      expect(answers).toMatchObject([failed(1)]);
    });
  });
});
