import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConnectionsApi } from './support/connections-api.js';

let connections: ConnectionsApi;

beforeAll(async () => {
  connections = await ConnectionsApi.start();
});

afterAll(() => connections.stop());

describe('changes of http connections', () => {
  it.each([
    [
      'a header that Warren sets',
      400,
      'header_reserved',
      { headers: [{ name: 'mcp-session-id', value: 'v' }] },
      'headers[0].name',
    ],
    [
      'a header twice',
      400,
      'validation_failed',
      {
        headers: [
          { name: 'X-A', value: 'v' },
          { name: 'x-a', value: 'w' },
        ],
      },
      'headers[1].name',
    ],
    ['an empty header', 400, 'validation_failed', { headers: [{ name: 'X-A', value: '' }] }, 'headers[0].value'],
    [
      'an empty query parameter',
      400,
      'validation_failed',
      { queryParameters: [{ name: 'a', value: '' }] },
      'queryParameters[0].value',
    ],
    [
      'a line break in a header',
      400,
      'validation_failed',
      { headers: [{ name: 'X-A', value: 'canary-a\r\nb' }] },
      'headers[0].value',
    ],
    ['a line break in the key', 400, 'validation_failed', { apiKey: 'canary-a\nb' }, 'apiKey'],
    [
      'NUL in a query parameter',
      400,
      'validation_failed',
      { queryParameters: [{ name: 'a', value: 'canary-a\0' }] },
      'queryParameters[0].value',
    ],
    [
      'a value that no header can hold',
      400,
      'validation_failed',
      { headers: [{ name: 'X-A', value: 'canary-€' }] },
      'headers[0].value',
    ],
    [
      'Authorization beside the key',
      400,
      'validation_failed',
      { apiKey: 'canary-key', headers: [{ name: 'authorization', value: 'canary-v' }] },
      'headers',
    ],
    ['a header without any value', 422, 'secret_value_required', { headers: [{ name: 'X-New' }] }, 'headers[0].value'],
    [
      'a parameter without any value',
      422,
      'secret_value_required',
      { queryParameters: [{ name: 'new' }] },
      'queryParameters[0].value',
    ],
    [
      'a kind of auth not built yet',
      422,
      'auth_type_unsupported',
      { auth: { type: 'oauth2', clientSecret: 'canary-oauth' } },
      'auth.type',
    ],
    ['userinfo in the URL', 400, 'validation_failed', { baseUrl: 'http://user:canary-pass@host/' }, 'baseUrl'],
    ['a fragment in the URL', 400, 'validation_failed', { baseUrl: 'http://host/#canary-part' }, 'baseUrl'],
  ])('are refused for %s with %i %s, naming the field alone', async (_what, status, code, body, path) => {
    await connections.ensureHttp('strict');
    const errors = await connections.refused(status, code, 'strict', body);
    expect(errors).toEqual([{ path: expect.stringContaining(path), message: expect.any(String) }]);
    expect(connections.lastText()).not.toContain('canary');
    expect(await connections.read('strict')).toMatchObject({ revision: 1, headers: [], apiKeyConfigured: false });
  });
});

describe('new stdio connections', () => {
  it.each([
    ['NUL', 400, 'validation_failed', [{ name: 'A', value: 'canary\0' }], 'environmentVariables[0].value'],
    ['a name that is none', 400, 'validation_failed', [{ name: '1A', value: 'v' }], 'environmentVariables[0].name'],
    [
      'a name twice',
      400,
      'validation_failed',
      [
        { name: 'A', value: 'v' },
        { name: 'A', value: 'w' },
      ],
      'environmentVariables[1].name',
    ],
    [
      'a name of Warren',
      422,
      'environment_variable_reserved',
      [{ name: 'WARREN_X', value: 'v' }],
      'environmentVariables[0].name',
    ],
  ])('are refused for %s with %i %s', async (_what, status, code, environmentVariables, path) => {
    const body = { name: 'Refused', transport: 'stdio', command: 'node', environmentVariables };
    const answer = await connections.send('POST', '', body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.body.errors.map((error: { path: string }) => error.path)).toEqual([path]);
    expect(connections.lastText()).not.toContain('canary');
  });
});
