import { describe, expect, it } from '@jest/globals';
import { readMessage } from './read-message.js';

const result = { content: [{ type: 'text', text: null }], structuredContent: { _meta: null, error: null } };
const error = { code: -32_000, message: 'no', data: null };
const answer = { jsonrpc: '2.0', id: 7, result };
const refusal = { jsonrpc: '2.0', id: 7, error };
const ping = { jsonrpc: '2.0', id: 7, method: 'ping' };

describe('readMessage', () => {
  it.each([
    ['a result beside no error', { ...answer, error: null }, answer],
    ['a result of no method', { ...answer, method: null, params: null }, answer],
    ['a result with members of its own', { ...answer, server: 'x' }, answer],
    ['a result with meta data of nothing', { ...answer, result: { ...result, _meta: null } }, answer],
    ['an error beside no result', { ...refusal, result: null }, refusal],
    ['an error beside a result', { ...refusal, result: {} }, refusal],
    ['a request without parameters', { ...ping, params: null, result: null, error: null }, ping],
    [
      'a notification',
      { ...ping, id: null, params: { _meta: null, a: null } },
      { ...ping, id: undefined, params: { a: null } },
    ],
    ['an error to nobody', { ...refusal, id: null }, { ...refusal, id: undefined }],
  ])('reads %s', (_, value, message) => {
    const read = readMessage(value);
    expect(read).toEqual({ kind: 'message', message });
    expect(readMessage(message)).toEqual(read);
  });

  it('leaves a message as it is where nothing is amiss', () => {
    for (const message of [answer, refusal, ping]) {
      const read = readMessage(message);
      expect(read.kind === 'message' && read.message).toBe(message);
    }
  });

  it.each([
    ['an error in words', { ...refusal, error: 'it is broken' }],
    ['an error of no number', { ...refusal, error: { code: 'E1', message: 'no' } }],
    ['an error of a fraction', { ...refusal, error: { code: 1.5, message: 'no' } }],
    ['an error without words', { ...refusal, error: { code: 1 } }],
    ['an error of no form beside a result', { ...answer, error: 'no' }],
    ['no version', { id: 7, result }],
    ['another version', { ...answer, jsonrpc: '1.0' }],
    ['a result of no form', { ...answer, result: 'text' }],
    ['a result with meta data of no form', { ...answer, result: { _meta: 'x' } }],
    ['neither result nor error', { jsonrpc: '2.0', id: 7, result: null, error: null }],
  ])('knows whom it answers: %s', (_, value) => {
    expect(readMessage(value)).toEqual({ kind: 'malformed', id: 7 });
  });

  it.each([{ error: 'Session not found' }, { id: [7], result }, { id: null, result: 'text' }])(
    'knows nobody whom it answers: %j',
    (value) => {
      expect(readMessage(value)).toEqual({ kind: 'malformed', id: undefined });
    },
  );

  it.each([
    5,
    'text',
    null,
    [],
    {},
    { id: 7 },
    { id: 7, ok: true },
    { type: 'ping', error: null },
    { ...ping, method: 5 },
    { ...ping, jsonrpc: undefined },
    { ...answer, method: {} },
  ])('takes for no answer: %j', (value) => {
    expect(readMessage(value)).toEqual({ kind: 'noise' });
  });
});
