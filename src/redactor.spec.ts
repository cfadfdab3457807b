import { Buffer } from 'node:buffer';
import { describe, expect, it } from '@jest/globals';
import { Redactor } from './redactor.js';

const TOKEN = 'tok-4711/SECRET+zz==';
const PEM = ['-----BEGIN KEY-----', 'MIIEvQIBADANBgkqhkiG9w0B', 'AQEFAASC', 'short', '-----END KEY-----', ''].join(
  '\n',
);

describe('Redactor.text', () => {
  const redactor = new Redactor([TOKEN]);

  it.each([
    ['as written', TOKEN],
    ['in a header line (A33)', `Authorization: Bearer ${TOKEN}\r\n`],
    ['behind a prefix without a word boundary (B17)', `MCP_API_KEY=${TOKEN} rejected`],
    ['URL-encoded', 'tok-4711%2FSECRET%2Bzz%3D%3D'],
    ['URL-encoded, lower-case hex', 'tok-4711%2fSECRET%2bzz%3d%3d'],
    ['base64', 'dG9rLTQ3MTEvU0VDUkVUK3p6PT0='],
    ['base64 of a header', Buffer.from(`user:${TOKEN}@host`).toString('base64')],
    ['JSON-escaped', 'tok-4711\\/SECRET\\u002bzz=='],
    ['hex, mixed case', Buffer.from(TOKEN).toString('hex').replaceAll('f', 'F')],
  ])('masks a secret %s', (_, text) => {
    const { text: masked, count } = redactor.text(`before ${text} after`);
    expect(count).toBe(1);
    expect(masked).toMatch(/^before .*\[redacted\].* after$/s);
    expect(masked).not.toMatch(/SECRET|U0VDUkVU|534543524554/i);
  });

  it('keeps everything around the mark', () => {
    expect(redactor.text(`a${TOKEN}b ${TOKEN}`)).toEqual({ text: 'a[redacted]b [redacted]', count: 2 });
    expect(new Redactor(['pass+word/1']).text('x=pass%2Bword%2F1&y=2')).toEqual({ text: 'x=[redacted]&y=2', count: 1 });
  });

  it('ignores values under 8 characters, which would blank out ordinary text', () => {
    const short = new Redactor(['ab', 'seven77', '']);
    expect(short.text('cabin ab seven77')).toEqual({ text: 'cabin ab seven77', count: 0 });
    expect(new Redactor(['eight888']).text('eight888').count).toBe(1);
  });

  it('writes one mark for overlapping secrets and two for touching ones', () => {
    const two = new Redactor(['12345678', '56789abc']);
    expect(two.text('<123456789abc>')).toEqual({ text: '<[redacted]>', count: 1 });
    expect(two.text('<1234567856789abc>')).toEqual({ text: '<[redacted][redacted]>', count: 2 });
  });

  it('masks a secret that stands within the beginning of another', () => {
    const nested = new Redactor(['<12345678>', '12345678', '4567890a']);
    expect(nested.text('<12345678!').text).toBe('<[redacted]!');
    expect(nested.text('<1234567890a').text).toBe('<[redacted]');
  });

  it('masks each line of at least 8 characters of a secret with several', () => {
    const pem = new Redactor([PEM]);
    expect(pem.text(`key: ${PEM}!`)).toEqual({ text: 'key: [redacted]!', count: 1 });
    expect(pem.text(JSON.stringify({ PEM })).text).toBe('{"PEM":"[redacted]"}');
    expect(pem.text('> MIIEvQIBADANBgkqhkiG9w0B\r\n> AQEFAASC\r\n> short').text).toBe(
      '> [redacted]\r\n> [redacted]\r\n> short',
    );
  });

  it.each([' tok-4711/SECRET ', '\ttok-4711/SECRET', 'tok-4711/SECRET\u00a0'])(
    'masks %j also without the blanks at its edges',
    (secret) => {
      const padded = new Redactor([secret]);
      expect(padded.text('is tok-4711/SECRET!').text).toBe('is [redacted]!');
      expect(padded.text(Buffer.from('tok-4711/SECRET').toString('base64')).count).toBe(1);
      expect(padded.text(`is${secret}!`).text).toBe('is[redacted]!');
      expect(new Redactor(['  seven77  ']).text('seven77').count).toBe(0);
    },
  );

  it('masks a secret saved in an escaped spelling when it comes back decoded', () => {
    const escaped = new Redactor([PEM.replaceAll('\n', '\\n'), 'p%40ss%2Fword']);
    expect(escaped.text(PEM).text).toBe('[redacted]');
    expect(escaped.text('user:p@ss/word@db').text).toBe('user:[redacted]@db');
  });

  it('masks a secret across the blocks a long text is taken in', () => {
    for (let shift = 0; shift <= 45; shift += 1) {
      const filler = 'é '.repeat(32_768).slice(shift);
      const encoded = encodeURIComponent(TOKEN);
      const { text, count } = redactor.text(`${filler}${encoded} tail`);
      expect(count).toBe(1);
      expect(text).toBe(`${filler}[redacted] tail`);
    }
  });

  it('answers the very same text when nothing is in it, lone surrogates included', () => {
    const text = 'nothing here \ud800 at all';
    expect(redactor.text(text)).toEqual({ text, count: 0 });
  });

  it('does not mask its own mark', () => {
    expect(new Redactor(['redacted', TOKEN]).text(TOKEN).text).toBe('[redacted]');
  });

  it('takes a lone string for one secret', () => {
    expect(new Redactor(TOKEN).text(TOKEN).count).toBe(1);
  });
});

describe('Redactor.json', () => {
  it('masks strings and member names at any depth and changes nothing in the given value', () => {
    const given = { [TOKEN]: [{ deep: `x ${TOKEN}` }], number: 123_456_789, [`${TOKEN}2`]: null };
    const before = JSON.stringify(given);
    const { value, count } = new Redactor([TOKEN, '123456789']).json(given);
    expect(value).toEqual({ '[redacted]': [{ deep: 'x [redacted]' }], number: '[redacted]', '[redacted]2': null });
    expect(count).toBe(4);
    expect(JSON.stringify(given)).toBe(before);
  });

  it('keeps members apart whose names become equal', () => {
    const { value } = new Redactor(['secret-one', 'secret-two']).json({ 'secret-one': 1, 'secret-two': 2 });
    expect(value).toEqual({ '[redacted]': 1, '[redacted]~2': 2 });
  });
});

describe('Redactor.with', () => {
  it('is the same redactor when nothing is added', () => {
    const redactor = new Redactor([TOKEN]);
    expect(redactor.with([])).toBe(redactor);
    expect(redactor.with([TOKEN, 'short'])).toBe(redactor);
    expect(redactor.with(Redactor.empty)).toBe(redactor);
    expect(redactor.with(redactor)).toBe(redactor);
    expect(Redactor.empty.with(redactor)).toBe(redactor);
  });

  it('masks the secrets of all it was put together from, however many', () => {
    let joined = new Redactor(['secret-number-0']);
    for (let number = 1; number < 10; number += 1) {
      const more = [`secret-number-${number}`];
      joined = joined.with(number % 2 === 0 ? more : new Redactor(more));
    }
    for (let number = 0; number < 10; number += 1) {
      expect(joined.text(`<secret-number-${number}>`).text).toBe('<[redacted]>');
    }
    expect(joined.text('secret-number-1secret-number-2').count).toBe(2);
  });

  it('writes one mark where secrets of two sets overlap', () => {
    expect(new Redactor(['12345678']).with(['56789abc']).text('123456789abc')).toEqual({
      text: '[redacted]',
      count: 1,
    });
  });
});

describe('Redactor.stream', () => {
  it('masks a secret split over two writes (A33)', () => {
    const stream = new Redactor([TOKEN]).stream();
    expect(stream.push('token tok-4711/SEC')).toBe('token ');
    expect(stream.push('RET+zz== refused!\n')).toBe('[redacted] refused!\n');
    expect(stream.end()).toBe('');
    expect(stream.count).toBe(1);
  });

  it('passes on at once what cannot be the beginning of a secret', () => {
    const stream = new Redactor([TOKEN, PEM]).stream();
    expect(stream.push('ready, 100% done.\n')).toBe('ready, 100% done.\n');
    expect(stream.push('tok-4711/')).toBe('');
    expect(stream.push('other!')).toBe('tok-4711/other!');
  });

  it('keeps characters whole that are cut between chunks', () => {
    const stream = new Redactor([TOKEN]).stream();
    const bytes = Buffer.from('é😀');
    expect([...bytes].map((byte) => stream.push(Buffer.of(byte))).join('')).toBe('é😀');
    expect(stream.push('\ud83d') + stream.push('\ude00')).toBe('😀');
  });

  it('cuts no escape in two, which would change how the rest reads', () => {
    const redactor = new Redactor(['\\\\\\naaaaZZ', 'naaaa"bb']);
    const stream = redactor.stream();
    const text = stream.push('\\\\\\\\naaaa') + stream.push('\\"bb!') + stream.end();
    expect(text).toBe('\\\\\\\\[redacted]!');
    expect(redactor.text('\\\\\\\\naaaa\\"bb!').text).toBe(text);
  });

  it('gives back a beginning that was never completed', () => {
    const stream = new Redactor([TOKEN]).stream();
    expect(stream.push('tok-4711\\')).toBe('');
    expect(stream.end()).toBe('tok-4711\\');
    expect(stream.push('a new text!')).toBe('a new text!');
  });

  it('shows no beginning of a secret where the text was cut off', () => {
    const stream = new Redactor([TOKEN]).stream();
    expect(stream.push('key tok-4711/SEC') + stream.shortRest + stream.endCut()).toBe('key [redacted]');
    expect(stream.push('key tok') + stream.shortRest).toBe('key tok');
    expect(stream.endCut()).toBe('tok');
    expect(stream.push(`${TOKEN} and ${Buffer.from(TOKEN).toString('base64').slice(0, 12)}`)).toBe('[redacted] and ');
    expect(stream.endCut()).toBe('[redacted]');
    expect(stream.push('a new text!')).toBe('a new text!');
  });

  it('holds back a bounded amount, whatever comes', () => {
    const secret = 'abababab';
    const endless = [
      ['a secret that overlaps itself', 'ab', 'ab'],
      ['line breaks behind the beginning of base64', 'YWJh', '\n'],
      ['backslashes', 'abab', '\\\\\\'],
      ['half escapes', 'abab', '\\u00'],
      ['escaped percent signs', 'abab', '%25'],
    ] as const;
    for (const [, beginning, piece] of endless) {
      const stream = new Redactor([secret]).stream();
      let received = stream.push(beginning);
      for (let index = 0; index < 2_000; index += 1) received += stream.push(piece);
      // 16 base64 characters, each a six-byte escape of a six-byte escape.
      expect(stream.end().length).toBeLessThanOrEqual(16 * 36);
      expect(received.length).toBeGreaterThan(0);
    }
  });
});
