import { describe, expect, it } from '@jest/globals';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { ExpectedReplies } from './expected-replies.js';

const answer = (id: unknown, result: unknown = {}): JSONRPCMessage =>
  ({ jsonrpc: '2.0', id, result }) as unknown as JSONRPCMessage;

function waitingFor(...ids: (string | number)[]): ExpectedReplies {
  const replies = new ExpectedReplies();
  for (const id of ids) replies.expect(id, 'tools/call');
  return replies;
}

describe('ExpectedReplies', () => {
  it('takes an answer to its request once, also by a string copy of the number', () => {
    const replies = waitingFor(0, 7, 'probe-1');
    expect([answer('7'), answer(0), answer('probe-1')].map((one) => replies.receive(one))).toEqual([
      answer(7),
      answer(0),
      answer('probe-1'),
    ]);
    expect(replies.strays).toBe(0);
    expect(replies.receive(answer(7))).toBeUndefined();
    expect([replies.strays, replies.waiting]).toEqual([1, []]);
  });

  it.each([987_654, 'zzz', '', ' 1 ', '0x1', '1e0', '1.0', '01', true, [1], null, undefined])(
    'gives an answer with the id %j to nobody',
    (id) => {
      const replies = waitingFor(0, 1);
      expect(replies.receive(answer(id))).toBeUndefined();
      expect([replies.strays, replies.waiting]).toEqual([1, [0, 1]]);
    },
  );

  it('knows a late answer from a wrong one', () => {
    const replies = waitingFor(1, 2);
    replies.giveUp('1');
    replies.giveUp(9);
    expect(replies.receive(answer(1))).toBeUndefined();
    expect([replies.strays, replies.waiting]).toEqual([0, [2]]);
  });

  it('remembers a bounded number of requests that were given up', () => {
    const replies = new ExpectedReplies();
    for (let id = 0; id < 1_001; id += 1) {
      replies.expect(id, 'tools/call');
      replies.giveUp(id);
    }
    replies.receive(answer(1_000));
    expect(replies.strays).toBe(0);
    replies.receive(answer(0));
    expect(replies.strays).toBe(1);
  });

  it('reads null members of a handshake as absent, at any depth, and nothing else', () => {
    const replies = waitingFor(1);
    replies.expect(2, 'initialize');
    const said = { instructions: null, capabilities: { tools: { listChanged: null }, list: [null, { a: null }] } };
    expect(replies.receive(answer(2, said))).toEqual(answer(2, { capabilities: { tools: {}, list: [null, {}] } }));
    const result = { content: [{ text: null }], structuredContent: null, isError: null };
    expect(replies.receive(answer(1, result))).toEqual(answer(1, result));
  });

  it('lets requests and notifications pass', () => {
    const replies = waitingFor();
    const ping = { jsonrpc: '2.0', id: 5, method: 'ping' } as const;
    expect(replies.receive(ping)).toEqual(ping);
    expect(replies.strays).toBe(0);
  });
});
