import { describe, expect, it } from '@jest/globals';
import type { Transport } from '../database.schema.js';
import { ProblemError } from '../errors.js';
import { checkImmutable, checkRequest, checkResult, type ConnectionRequest, idProblem } from './connection.rules.js';
import { initialSettings, type SettingsChange } from './connection.settings.js';
import { planSecrets, type SecretFields } from './secret-changes.js';

/** `code path path …` of what was refused, or `fine`. */
function refusal(work: () => void): string {
  try {
    work();
    return 'fine';
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return [error.code, ...(error.errors ?? []).map(({ path }) => path)].join(' ');
  }
}

describe('checkRequest', () => {
  it.each<[string, Transport, ConnectionRequest, string]>([
    ['http with a command', 'http', { command: 'node' }, 'validation_failed command'],
    ['http with arguments', 'http', { args: ['x'] }, 'validation_failed args'],
    ['http with a directory', 'http', { cwd: '/tmp' }, 'validation_failed cwd'],
    [
      'http with variables',
      'http',
      { environmentVariables: [{ name: 'A' }] },
      'validation_failed environmentVariables',
    ],
    ['http with empty stdio fields', 'http', { command: null, args: [], environmentVariables: [] }, 'fine'],
    ['stdio with a URL', 'stdio', { baseUrl: 'https://a.example' }, 'validation_failed baseUrl'],
    ['stdio with an API key', 'stdio', { apiKey: 'k' }, 'validation_failed apiKey'],
    ['stdio with headers', 'stdio', { headers: [{ name: 'X' }] }, 'validation_failed headers'],
    ['stdio with query parameters', 'stdio', { queryParameters: [{ name: 'q' }] }, 'validation_failed queryParameters'],
    ['stdio with several', 'stdio', { baseUrl: 'x', apiKey: 'k' }, 'validation_failed baseUrl apiKey'],
    [
      'headers twice in another case',
      'http',
      { headers: [{ name: 'X-A' }, { name: 'x-a' }] },
      'validation_failed headers[1].name',
    ],
    [
      'query parameters twice',
      'http',
      { queryParameters: [{ name: 'q' }, { name: 'Q' }, { name: 'q' }] },
      'validation_failed queryParameters[2].name',
    ],
    [
      'variables twice',
      'stdio',
      { environmentVariables: [{ name: 'A' }, { name: 'a' }, { name: 'A' }] },
      'validation_failed environmentVariables[2].name',
    ],
    ['an auth type', 'http', { auth: { type: 'oauth' } }, 'auth_type_unsupported auth.type'],
    ['the auth type bearer', 'http', { auth: { type: 'bearer' } }, 'auth_type_unsupported auth.type'],
    ['auth without a type', 'http', { auth: {} }, 'validation_failed auth.type'],
    ['auth null', 'http', { auth: null }, 'fine'],
  ])('%s', (_what, transport, request, expected) => {
    expect(refusal(() => checkRequest(transport, request))).toBe(expected);
  });

  it.each([
    'Host',
    'content-type',
    'Content-Length',
    'ACCEPT',
    'Connection',
    'transfer-encoding',
    'Mcp-Session-Id',
    'mcp-x',
    'Expect',
  ])('reserves the header %s', (name) => {
    const headers = [
      { name: 'X-Fine', value: 'a' },
      { name, value: 'b' },
    ];
    expect(refusal(() => checkRequest('http', { headers }))).toBe('header_reserved headers[1].name');
  });

  it.each(['X-Host', 'Accept-Language', 'Authorization', 'Cookie', 'X-Mcp-Key', 'Contents'])(
    'leaves %s free',
    (name) => {
      expect(refusal(() => checkRequest('http', { headers: [{ name, value: 'a' }] }))).toBe('fine');
    },
  );
});

describe('checkImmutable', () => {
  const stored = { id: 'a', transport: 'http' as const };

  it.each<[string, ConnectionRequest, string]>([
    ['nothing', {}, 'fine'],
    ['the same values', { id: 'a', transport: 'http' }, 'fine'],
    ['another id', { id: 'b' }, 'immutable_field id'],
    ['the id in capitals', { id: 'A' }, 'immutable_field id'],
    ['no id', { id: null }, 'immutable_field id'],
    ['another transport', { transport: 'stdio' }, 'immutable_field transport'],
    ['no name', { name: null }, 'validation_failed name'],
  ])('%s', (_what, request, expected) => {
    expect(refusal(() => checkImmutable(stored, request))).toBe(expected);
  });
});

describe('checkResult', () => {
  const result = (transport: Transport, change: SettingsChange, secrets: SecretFields = {}): string =>
    refusal(() => checkResult(initialSettings('n', transport, change), planSecrets([], secrets, undefined)));

  it('demands what a transport needs', () => {
    expect(result('http', {})).toBe('validation_failed baseUrl');
    expect(result('http', { baseUrl: null })).toBe('validation_failed baseUrl');
    expect(result('stdio', {})).toBe('validation_failed command');
    expect(result('stdio', { command: 'node' })).toBe('fine');
  });

  it('has one Authorization only', () => {
    const headers = [
      { name: 'X', value: 'v' },
      { name: 'authorization', value: 'Basic x' },
    ];
    const url = { baseUrl: 'https://a.example' };
    expect(result('http', url, { headers })).toBe('fine');
    expect(result('http', url, { apiKey: 'k' })).toBe('fine');
    expect(result('http', url, { headers, apiKey: 'k' })).toBe('validation_failed headers[1].name');
  });

  it('counts what stays stored as well', () => {
    const settings = initialSettings('n', 'http', { baseUrl: 'https://a.example' });
    const stored = [{ kind: 'header' as const, name: 'Authorization', position: 0, flags: [] }];
    const plan = planSecrets(stored, { apiKey: 'k' }, undefined);
    expect(refusal(() => checkResult(settings, plan))).toBe('validation_failed headers[0].name');
    const dropping = planSecrets(stored, { apiKey: 'k', headers: [] }, undefined);
    expect(refusal(() => checkResult(settings, dropping))).toBe('fine');
  });
});

describe('idProblem', () => {
  it.each(['mod.x', 'mod.', 'export', '..', '.'])('refuses %s', (id) => {
    expect(idProblem(id)).toBeDefined();
  });

  it.each(['mod', 'mods.x', 'a.mod.b', 'Export', 'a'])('takes %s', (id) => {
    expect(idProblem(id)).toBeUndefined();
  });
});
