import { describe, expect, it } from '@jest/globals';
import { MessageLines } from './message-lines.js';

const answer = (id: number, text: string): string => JSON.stringify({ jsonrpc: '2.0', id, result: { text } });

/** What one line is, read with a bound of 100 characters, in pieces of so many. */
function inChunks(line: string, size = 37): unknown[] {
  const lines = new MessageLines(100);
  const bytes = Buffer.from(`${line}\n`);
  const found: unknown[] = [];
  for (let start = 0; start < bytes.length; start += size)
    found.push(...lines.push(bytes.subarray(start, start + size)));
  return found;
}

describe('MessageLines', () => {
  it('reads messages through a byte-order mark, CRLF, blank lines and noise', () => {
    const lines = new MessageLines(1_000);
    const found = lines.push(
      Buffer.from(`\uFEFF${answer(1, 'a')}\r\n\r\nbanner\n42\nnull\n[]\n"x"\n{"jsonrpc":"2.0"\n${answer(2, 'b')}\n`),
    );
    expect(found.map(({ kind }) => kind)).toEqual([
      'message',
      'noise',
      'noise',
      'noise',
      'noise',
      'noise',
      'noise',
      'message',
    ]);
  });

  it('joins characters that were cut between chunks', () => {
    const bytes = Buffer.from(`${answer(1, 'grüße 🦊')}\n`);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const lines = new MessageLines(1_000);
      const found = [...lines.push(bytes.subarray(0, cut)), ...lines.push(bytes.subarray(cut))];
      expect(found).toEqual([{ kind: 'message', message: { jsonrpc: '2.0', id: 1, result: { text: 'grüße 🦊' } } }]);
    }
  });

  it('skips a line over the bound, says whom it answers, and goes on', () => {
    const lines = new MessageLines(100);
    const found = lines.push(Buffer.from(`${answer(7, 'x'.repeat(500))}\n${answer(8, 'ok')}\n`));
    expect(found[0]).toEqual({ kind: 'oversize', id: 7 });
    expect(found[1]).toMatchObject({ kind: 'message', message: { id: 8 } });
  });

  it('holds no more than the head of an endless line', () => {
    const lines = new MessageLines(100);
    for (let chunk = 0; chunk < 1_000; chunk += 1) expect(lines.push(Buffer.alloc(10_000, 0x61))).toEqual([]);
    expect(lines.push(Buffer.from('\n'))).toEqual([{ kind: 'noise' }]);
  });

  const large = JSON.stringify('"id":1}\n{[,'.repeat(50));
  it.each([
    ['an id after the result', `{"jsonrpc":"2.0","result":{"id":3,"text":${large}},"id":7}`, 7],
    ['an id before the version, in a string', `{"result":{"text":${large}}, "id": "7" , "jsonrpc":"2.0"}`, 7],
    ['an id first', `{"id":7,"result":{"id":3,"text":${large}}}`, 7],
    ['an id within the result only', `{"jsonrpc":"2.0","result":{"id":3,"text":${large},"id":3}}`, undefined],
    ['no end', `{"jsonrpc":"2.0","result":{"text":${large}`, undefined],
  ])('tells of an oversize answer whom it answers: %s', (_, line, id) => {
    expect(inChunks(line)).toEqual([{ kind: 'oversize', id }]);
  });

  it.each([
    ['a notification', `{"jsonrpc":"2.0","method":"notifications/message","params":{"id":1,"data":${large}}}`],
    ['one that names its method last', `{"jsonrpc":"2.0","params":{"data":${large}},"method":"notifications/message"}`],
    ['a request', `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"data":${large}}}`],
    ['a request that names its method last', `{"params":{"data":${large}},"method":"ping","id":1}`],
    ['text', `banner ${large}`],
  ])('takes for noise what is oversize and no answer: %s', (_, line) => {
    expect(inChunks(line)).toEqual([{ kind: 'noise' }]);
  });

  it('reads the head of an oversize line in linear time', () => {
    const line = `{"jsonrpc":"2.0","result":{"text":"${'\\"'.repeat(100_000)}"},"id":7}`;
    const startedAt = performance.now();
    expect(inChunks(line, 100_000)).toEqual([{ kind: 'oversize', id: 7 }]);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  it('takes responses without an id for noise', () => {
    expect(new MessageLines(100).push(Buffer.from('{"jsonrpc":"2.0","id":null,"error":{"code":1}}\n'))).toEqual([
      { kind: 'noise' },
    ]);
  });

  it.each(['"text"', '[]', '42', 'null'])('names the request that is answered with %s', (result) => {
    const line = Buffer.from(`{"jsonrpc":"2.0","id":5,"result":${result}}\n`);
    expect(new MessageLines(100).push(line)).toEqual([{ kind: 'malformed', id: 5 }]);
  });

  it.each(['"text"', '{}', '{"code":1}', '{"code":"E","message":"no"}', '{"message":"no"}', 'null'])(
    'names the request that is refused with %s',
    (error) => {
      const line = Buffer.from(`{"jsonrpc":"2.0","id":"5","error":${error}}\n`);
      expect(new MessageLines(100).push(line)).toEqual([{ kind: 'malformed', id: '5' }]);
    },
  );
});
