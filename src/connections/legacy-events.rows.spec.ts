import { describe, expect, it } from '@jest/globals';
import { LegacyFileError } from './legacy-events.file.js';
import { readLegacyRows } from './legacy-events.rows.js';

const NOW = new Date('2026-06-01T12:00:00Z');
const TS = '2026-01-02T03:04:05.678Z';
const row = (members: Record<string, unknown>): string =>
  JSON.stringify({ ts: TS, providerId: 'files', status: 'ready', ...members });
const read = (text: string): ReturnType<typeof readLegacyRows> => readLegacyRows(text, NOW);
const event = { connectionId: 'files', at: new Date(TS), status: 'ready', reason: null };

describe('the rows of a legacy event file', () => {
  it.each<[string, string, Partial<typeof event> | { reason: string }]>([
    ['all members', row({ error: 'process_exited' }), { reason: 'process_exited' }],
    ['no error', row({}), {}],
    ['an error of null', row({ error: null }), {}],
    ['members beside those', row({ pid: 7, nested: { a: [1] } }), {}],
    ['an offset', row({ ts: '2026-01-02T04:04:05.678+01:00' }), {}],
    ['milliseconds since 1970', row({ ts: Date.parse(TS) }), {}],
    ['the error text of a provider', row({ error: 'connect to https://u:p@a.example failed' }), { reason: 'unknown' }],
    ['an error that only looks like a word', row({ error: 'a1b2c3d4e5f6' }), { reason: 'unknown' }],
    ['an empty error', row({ error: '' }), { reason: 'unknown' }],
    ['a status of more than one word', row({ status: 'Ready: token=abc' }), { status: 'unknown' }],
    ['a clock an hour ahead', row({ ts: '2026-06-01T13:00:00Z' }), { at: new Date('2026-06-01T13:00:00Z') }],
    ['white space around', `  ${row({})}\t\r`, {}],
    ['an id that no connection can have', row({ providerId: 'a b/ü' }), { connectionId: 'a b/ü' }],
  ])('are read: %s', (_what, line, differing) => {
    expect(read(`${line}\n`)).toEqual({ events: [{ ...event, ...differing }], malformed: 0 });
  });

  it.each([
    ['no JSON', 'ready'],
    ['half an object', row({}).slice(0, -1)],
    ['two objects', `${row({})}${row({})}`],
    ['a list', `[${row({})}]`],
    ['a string', JSON.stringify(row({}))],
    ['null', 'null'],
    ['an empty object', '{}'],
    ['no time', row({ ts: undefined })],
    ['a day that is none', row({ ts: '2026-02-30T00:00:00Z' })],
    ['a time without its zone', row({ ts: '2026-01-02T03:04:05' })],
    ['seconds since 1970', row({ ts: 1_767_323_045 })],
    ['a fraction of a millisecond', row({ ts: Date.parse(TS) + 0.5 })],
    ['a number beyond every date', row({ ts: Number.MAX_SAFE_INTEGER })],
    ['a time far ahead', row({ ts: '2026-06-03T00:00:00Z' })],
    ['a time before there were any', row({ ts: '1999-12-31T23:59:59Z' })],
    ['no provider', row({ providerId: undefined })],
    ['an empty provider', row({ providerId: '' })],
    ['a provider that is a number', row({ providerId: 1 })],
    ['a provider of 97 characters', row({ providerId: 'a'.repeat(97) })],
    ['a provider with NUL', row({ providerId: 'fi\0les' })],
    ['no status', row({ status: undefined })],
    ['an empty status', row({ status: '' })],
    ['a status with NUL', row({ status: 'ready\0' })],
    ['an error with NUL', row({ error: 'a\0b' })],
    ['an error that is an object', row({ error: { message: 'x' } })],
    ['NUL between the members', row({}).replace(',', ',\0')],
    ['more than 65,536 characters', row({ error: 'x'.repeat(65_536) })],
  ])('are malformed: %s', (_what, line) => {
    expect(read(`${line}\n${row({})}\n`)).toEqual({ events: [event], malformed: 1 });
  });

  it('pass over blank lines and a byte order mark', () => {
    expect(read(`\ufeff${row({})}\r\n\r\n   \n${row({})}\n\n`)).toEqual({ events: [event, event], malformed: 0 });
    expect(read('')).toEqual({ events: [], malformed: 0 });
  });

  it('count the last line also when it has no end, if it is whole', () => {
    expect(read(`${row({})}\n${row({})}`)).toEqual({ events: [event, event], malformed: 0 });
    for (const length of [1, 20, row({}).length - 1]) {
      expect(read(`${row({})}\n${row({}).slice(0, length)}`)).toEqual({ events: [event], malformed: 1 });
    }
  });

  it('may be as many as a file holds well-formed ones, and no more', () => {
    expect(read('{}\n'.repeat(500_000)).malformed).toBe(500_000);
    const tooMany = (): unknown => read('{}\n'.repeat(500_001));
    expect(tooMany).toThrow(LegacyFileError);
    expect(tooMany).toThrow('holds more than 500000 rows');
  });
});
