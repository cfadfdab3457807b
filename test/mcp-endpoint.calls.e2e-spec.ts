import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { request, type IncomingMessage } from 'node:http';
import { BOTH, CALL, ENVELOPE, modern, posterTo, rpc, type Post } from './mcp-endpoint.messages.js';
import { EndlessCall, receipt, startMcpServer, type McpTestServer } from './mcp-endpoint.server.js';
import { eventually } from './support/eventually.js';

let server: McpTestServer;
let post: Post;

beforeEach(async () => {
  server = await startMcpServer();
  post = posterTo(server.url);
});

afterEach(() => server.close());

describe('cancellation', () => {
  const cancel = (requestId: unknown): Record<string, unknown> => ({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId },
  });

  it('ends exactly the call of this agent, this session and this id, and sends no response to it', async () => {
    const call = new EndlessCall();
    server.menu.answer = call.use;
    const session = { 'mcp-session-id': 'one' };
    const answer = post(rpc(1, 'tools/call', CALL), session);
    const caller = await call.running;
    await post(cancel(1), { 'mcp-session-id': 'two' });
    await post(cancel(1));
    await post(cancel(1), { ...session, 'x-agent': 'eve' });
    await post(cancel('1'), session);
    expect(call.isAborted).toBe(false);
    await post(cancel(1), session);
    await call.aborted;
    expect(caller.signal.reason).toMatchObject({ why: 'cancelled' });
    const { status, headers, text } = await answer;
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(text).not.toContain('data:');
    expect(server.inFlight.size).toBe(0);
  });

  it('answers a cancelled call with an error to those who read JSON only', async () => {
    const call = new EndlessCall();
    server.menu.answer = call.use;
    const answer = post(rpc(1, 'tools/call', CALL), { accept: 'application/json' });
    await call.running;
    await post(cancel(1));
    expect((await answer).body).toMatchObject({ id: 1, error: { message: 'The request was cancelled.' } });
  });

  it('tells where calls of other replicas can be cancelled, of unknown calls only', async () => {
    const heard: unknown[] = [];
    const stop = server.inFlight.onUnknownCall(async (key) => void heard.push(key));
    const call = new EndlessCall();
    server.menu.answer = call.use;
    const answer = post(rpc(1, 'tools/call', CALL));
    await call.running;
    await post(cancel(2), { 'mcp-session-id': 'one' });
    await post(cancel(1));
    await answer;
    expect(heard).toEqual([{ agentId: 'ada', sessionId: 'one', requestId: 2 }]);
    stop();
  });

  it('ends the call when the connection breaks, in both eras', async () => {
    for (const [body, headers] of [[rpc(1, 'tools/call', CALL), {}], modern('tools/call', CALL)] as [
      unknown,
      Record<string, string>,
    ][]) {
      const call = new EndlessCall();
      server.menu.answer = call.use;
      const sent = request(server.url, {
        method: 'POST',
        headers: { 'x-agent': 'ada', 'content-type': 'application/json', accept: BOTH, ...headers },
      });
      sent.on('error', () => undefined);
      sent.end(JSON.stringify(body));
      await call.running;
      sent.destroy();
      await call.aborted;
    }
    expect(server.inFlight.size).toBe(0);
  });
});

describe('progress', () => {
  it.each(['legacy', 'modern'])('does not pile up for a client that does not read (%s)', async (era) => {
    const [told, chars] = [20_000, 2_000];
    server.menu.answer = async (_tool, _args, { onProgress }) => {
      for (let progress = 1; progress <= told; progress += 1) {
        onProgress?.({ progress, message: 'x'.repeat(chars) });
        if (progress % 10 === 0) await new Promise(setImmediate);
      }
      return receipt({});
    };
    const params = { ...CALL, _meta: { ...(era === 'modern' ? ENVELOPE : {}), progressToken: 't' } };
    const headers = era === 'modern' ? modern('tools/call', CALL)[1] : {};
    const answer = await new Promise<IncomingMessage>((resolve) => {
      const sent = request(server.url, {
        method: 'POST',
        headers: { 'x-agent': 'ada', 'content-type': 'application/json', accept: BOTH, ...headers },
      });
      // nothing of the answer's body is read
      sent.on('response', resolve);
      sent.end(JSON.stringify(rpc(1, 'tools/call', params)));
    });
    await eventually(() => expect(server.inFlight.size).toBe(0), 20_000);
    let text = '';
    for await (const chunk of answer) text += String(chunk);
    const messages = text.split('\n').filter((line) => line.startsWith('data: {'));
    expect(JSON.parse(messages.at(-1)?.slice(6) ?? '')).toMatchObject({
      id: 1,
      result: { content: [{ text: 'hello' }] },
    });
    // some went into the buffers of both systems
    expect(messages.length).toBeGreaterThan(1);
    expect(text.length).toBeLessThan((told * chars) / 2);
  });
});

describe('long calls', () => {
  const restart = async (limits: Parameters<typeof startMcpServer>[0]): Promise<void> => {
    await server.close();
    server = await startMcpServer(limits);
    post = posterTo(server.url);
  };

  it.each(['legacy', 'modern'])('B34: comment on an event stream while they run (%s)', async (era) => {
    await restart({ openStreamAfterMs: 20, commentEveryMs: 20 });
    let finish = (): void => undefined;
    server.menu.answer = () => new Promise((resolve) => (finish = () => resolve(receipt({}))));
    const [body, headers] = era === 'modern' ? modern('tools/call', CALL) : [rpc(1, 'tools/call', CALL), {}];
    const answer = await fetch(server.url, {
      method: 'POST',
      headers: { 'x-agent': 'ada', 'content-type': 'application/json', accept: BOTH, ...headers },
      body: JSON.stringify(body),
    });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    expect(answer.headers.get('x-accel-buffering')).toBe('no');
    let text = '';
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.split('\n').filter((line) => line.startsWith(':')).length >= 3) finish();
    }
    const data = text.split('\n').filter((line) => line.startsWith('data: '));
    expect(data).toHaveLength(1);
    expect(JSON.parse(data[0]?.slice(6) ?? '')).toMatchObject({ id: 1, result: { content: [{ text: 'hello' }] } });
  });

  it('wait in silence for those who read JSON only', async () => {
    await restart({ openStreamAfterMs: 1, commentEveryMs: 1 });
    const call = new EndlessCall();
    server.menu.answer = (tool, args, caller) => Promise.race([call.use(tool, args, caller), later()]);
    const later = async () => {
      await post(rpc(2, 'ping'));
      return receipt({});
    };
    const answer = await post(rpc(1, 'tools/call', CALL), { accept: 'application/json' });
    expect(answer.body).toMatchObject({ id: 1, result: { content: [{ text: 'hello' }] } });
  });
});
