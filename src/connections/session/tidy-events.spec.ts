import { describe, expect, it } from '@jest/globals';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { tidyEvents } from './tidy-events.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const MIB = 1_048_576;

const result = { content: [] };
const answer = { jsonrpc: '2.0', id: 3, result };
const failed = (id: unknown) => ({ id, error: { data: { warren: 'malformed' } } });

function tidied(events: string, owner?: number, isBusy = false): Promise<string> {
  // in one piece
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode(events));
      controller.close();
    },
  });
  return new Response(tidyEvents(body, { owner, isBusy: () => isBusy })).text();
}

/** The data of the events that come out. */
async function seen(events: string, owner?: number, isBusy = false): Promise<unknown[]> {
  const data = (await tidied(events, owner, isBusy)).split('\n').filter((line) => line.startsWith('data:'));
  return data.map((line) => (/^data:\s*\{/.test(line) ? JSON.parse(line.slice(5)) : line.slice(5).trim()));
}
const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

describe('tidyEvents', () => {
  it.each([
    ['no JSON-RPC', event({ error: 'Session not found' })],
    ['an error to nobody', event({ jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'no' } })],
    ['an answer without an id', event({ ...answer, id: null })],
    ['an answer with an id that is none', event({ ...answer, id: [3] })],
    ['an answer of no form', event({ ...answer, result: 'text' })],
    ['an answer of no version', event({ id: 3, result })],
  ])('fails the request that the stream belongs to: %s', async (_, events) => {
    expect(await seen(events, 3)).toMatchObject([failed(3)]);
    expect(await seen(`event: message\nid: 5\n${events}`, 3)).toMatchObject([failed(3)]);
  });

  it.each([
    ['comments', ': alive\n\n'],
    ['an event without data', 'id: 1\nretry: 10\ndata:\n\n'],
    ['an event of another type', 'event: ping\ndata: alive\n\n'],
    ['progress', event({ jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } })],
    ['a notification of no version', event({ method: 'notifications/progress' })],
    ['text', 'data: Session not found\n\n'],
    ['a blank', 'data:  \n\n'],
    ['a word for the end', 'data: [DONE]\n\n'],
    ['no messages', 'data: []\n\n'],
    ['no value', 'data: null\n\n'],
    ['a yes', 'data: true\n\n'],
    ['a time', 'data: 1764543600\n\n'],
    ['an object of nothing', 'data: {}\n\n'],
    ['an object that is no answer', event({ type: 'ping', id: 3 })],
    ['an object of no error', event({ type: 'ping', error: null })],
  ])('fails nobody for %s', async (_, events) => {
    for (const alive of [events, `event: message\n${events}`]) {
      const all = await seen(alive + event(answer), 3);
      expect(all.at(-1)).toEqual(answer);
      expect(JSON.stringify(all)).not.toContain('malformed');
    }
  });

  it('takes on the stream of nobody for noise what names nobody, and fails whom the rest names', async () => {
    expect(await seen(`data: alive\n\n${event({ error: 'x' })}${event({ ...answer, result: 5 })}`)).toMatchObject([
      'alive',
      { error: 'x' },
      failed(3),
    ]);
  });

  it('hands on a batch one by one', async () => {
    const progress = { jsonrpc: '2.0', method: 'notifications/progress' };
    const batch = [progress, 'alive', {}, { ...answer, error: null }];
    expect(await seen(`id: 4\n${event(batch)}`, 3)).toEqual([progress, answer]);
  });

  it('passes over what the provider asks while it is busy, and nothing else', async () => {
    const ping = { jsonrpc: '2.0', id: 9, method: 'ping' };
    const progress = { jsonrpc: '2.0', method: 'notifications/progress' };
    const events = [ping, [ping, progress], ping, answer].map(event).join('');
    expect(await seen(events, 3)).toEqual([ping, ping, progress, ping, answer]);
    expect(await seen(events, 3, true)).toEqual([progress, answer]);
  });

  it('lets others have their turn within many events', async () => {
    let turns = 0;
    const count = setInterval(() => (turns += 1), 0);
    await tidied(event(answer).repeat(20_000));
    clearInterval(count);
    expect(turns).toBeGreaterThan(5);
  });

  it('passes over an event that was cut off without its end', async () => {
    for (const cut of ['data: {"jsonrpc"', 'data: no JSON\n', 'data: no']) expect(await tidied(cut, 3)).toBe('');
  });

  it('hands an event on as it means, whatever stands between its fields', async () => {
    const events = '\uFEFFid: 1\n: hi\nretry:5\nvendor: x\ndata: first\ndata:  second\nid\ndata\ndatax: no\n\n';
    const tidy = 'id: \nretry: 5\ndata: first\ndata:  second\ndata: \n\n';
    expect(await tidied(events)).toBe(tidy);
    expect(await tidied(events.replaceAll('\n', '\r'))).toBe(tidy);
    expect(await tidied(events.replaceAll('\n', '\r\n'))).toBe(tidy);
  });

  const filler = (start: string): string => start.padEnd(65_535, 'x') + '\n';
  it.each([
    ['comments', filler(':')],
    ['fields of no meaning', filler('vendor: ')],
    ['ids', filler('id: ')],
    ['data between comments', `data: ${'x'.repeat(20)}\n${filler(':')}`],
  ])('keeps little of an event that never ends: %s', async (_, part) => {
    const lines = new TransformStream<Uint8Array, Uint8Array>();
    const reader = tidyEvents(lines.readable, { isBusy: () => false }).getReader();
    const read = reader.read();
    const writer = lines.writable.getWriter();
    const used = (): number => {
      collectGarbage();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return heapUsed + arrayBuffers;
    };
    const before = used();
    for (let bytes = 0; bytes < 64 * MIB; bytes += part.length) await writer.write(Buffer.from(part));
    expect(used() - before).toBeLessThan(16 * MIB);
    await writer.write(Buffer.from('\ndata: end\n\n'));
    expect((await read).done).toBe(false);
    await writer.close();
    await reader.cancel();
  });
});
