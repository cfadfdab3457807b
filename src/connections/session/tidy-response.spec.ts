import { describe, expect, it } from '@jest/globals';
import { tidying } from './tidy-response.js';

const READING = { answers: 'come-elsewhere', isBusy: () => false } as const;

async function received(contentType: string, chunks: readonly string[]): Promise<string> {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(Buffer.from(chunk, 'latin1'));
      controller.close();
    },
  });
  const headers = { 'content-type': contentType, 'mcp-session-id': 's' };
  const response = await tidying(
    () => Promise.resolve(new Response(body, { status: 201, headers })),
    READING,
  )('http://a.test');
  expect([response.status, response.headers.get('mcp-session-id')]).toEqual([201, 's']);
  return response.text();
}

const bytes = (text: string): string => Buffer.from(text).toString('latin1');
const answer = (result: unknown) => ({ jsonrpc: '2.0', id: 1, result });
const nulls = { tools: [], _meta: null };

describe('tidying', () => {
  it('drops members of an envelope that are null, and nothing inside a result', async () => {
    const data = { structuredContent: { _meta: null, params: null }, text: '"_meta":null' };
    const text = JSON.stringify(answer({ ...data, _meta: null }));
    expect(JSON.parse(await received('Application/JSON; charset=utf-8', [text]))).toEqual(answer(data));
    expect(await received('application/json', [JSON.stringify(answer(data))])).toBe(JSON.stringify(answer(data)));
    const two = [answer(nulls), { jsonrpc: '2.0', method: 'ping', id: 2, params: null }];
    expect(JSON.parse(await received('application/json', [JSON.stringify(two)]))).toEqual([
      answer({ tools: [] }),
      { jsonrpc: '2.0', method: 'ping', id: 2 },
    ]);
  });

  it.each(['no JSON: "_meta":null', 'null', '', '"_meta":null'])('leaves %j as it came', async (text) => {
    expect(await received('application/json', [text])).toBe(text);
    expect(await received('text/html', [text])).toBe(text);
  });

  const plain = (tail: string): string =>
    bytes(`: hi\r\n\r\nid: 1\r\nretry: 10\r\ndata:\r\n\r\nevent: vendor\ndata: not "_meta":null\n\n${tail}`);
  const tidyPlain = bytes(`id: 1\nretry: 10\ndata: \n\nevent: vendor\ndata: not "_meta":null\n\ndata: {"é":1}\n\n`);
  const pretty = JSON.stringify(answer(nulls), null, 1)
    .split('\n')
    .map((line) => `data: ${line}`)
    .join('\r\n');
  const stream = `${plain('data: {"é":1}\r\r')}event: message\r\nid: 2\r\n${pretty}\r\n\r\n${plain('data: {"é":1}\n\n')}`;
  const tidy = `event: message\nid: 2\ndata: ${JSON.stringify(answer({ tools: [] }))}\n\n`;

  it('changes only the events that need it, and drops comments, wherever the stream is cut', async () => {
    for (let cut = 0; cut <= stream.length; cut += 1) {
      const text = await received('text/event-stream', [stream.slice(0, cut), stream.slice(cut)]);
      expect({ cut, text: bytes(text) }).toEqual({ cut, text: tidyPlain + tidy + tidyPlain });
    }
    expect(bytes(await received('text/event-stream', stream.split('')))).toBe(tidyPlain + tidy + tidyPlain);
  });

  it('hands an event on as soon as it has ended', async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const headers = { 'content-type': 'text/event-stream' };
    const response = await tidying(
      () => Promise.resolve(new Response(readable, { headers })),
      READING,
    )('http://a.test');
    const [writer, reader] = [writable.getWriter(), response.body?.getReader()];
    void writer.write(Buffer.from('data: {"first":1}\n\n'));
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: {"first":1}\n\n');
    await reader?.cancel();
  });

  it.each(['text/event-stream', 'application/json', 'text/plain'])(
    'waits for no body where no answer comes back, and cuts it soon: %s',
    async (type) => {
      let isCut = (): void => undefined;
      const cut = new Promise<void>((resolve) => (isCut = resolve));
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(Buffer.from(' ')),
        cancel: isCut,
      });
      const answered = new Response(body, { headers: { 'content-type': type } });
      const message = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
      const accepted = await tidying(() => Promise.resolve(answered), { ...READING, answers: 'come-back' })(
        'http://a.test',
        { method: 'POST', body: message },
      );
      expect([accepted.status, await accepted.text()]).toEqual([200, '']);
      await cut;
    },
  );
});
