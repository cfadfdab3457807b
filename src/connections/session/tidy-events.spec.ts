import { describe, expect, it } from '@jest/globals';
import { tidyEvents } from './tidy-events.js';

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
    ['no JSON', 'data: Session not found\n\n'],
    ['no JSON-RPC', event({ error: 'Session not found' })],
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
  ])('fails nobody for %s', async (_, events) => {
    expect((await seen(events + event(answer), 3)).at(-1)).toEqual(answer);
    expect(JSON.stringify(await seen(events, 3))).not.toContain('malformed');
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
    expect(await seen(`id: 4\n${event([progress, { ...answer, error: null }])}`, 3)).toEqual([progress, answer]);
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

  it('leaves an event that was cut off without its end', async () => {
    for (const cut of ['data: {"jsonrpc"', 'data: no JSON\n', 'data: no']) expect(await tidied(cut, 3)).toBe(cut);
  });
});
