import { describe, expect, it } from '@jest/globals';
import { MessageLines } from './message-lines.js';

const answer = (id: number, text: string): string => JSON.stringify({ jsonrpc: '2.0', id, result: { text } });

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
    expect(lines.push(Buffer.from('\n'))).toEqual([{ kind: 'oversize', id: undefined }]);
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
});
