import { describe, expect, it } from '@jest/globals';
import type { ChangeConnectionBody } from './connection.dto.js';
import { proposeChange, proposeCreation } from './connection-proposal.js';
import type { ConnectionRecord, SecretMark } from './connection.record.js';
import { initialSettings, type SettingsChange } from './connection.settings.js';

function record(transport: 'http' | 'stdio', change: SettingsChange, secrets: SecretMark[] = []): ConnectionRecord {
  const at = new Date(0);
  return {
    ...initialSettings('n', transport, change),
    id: 'a',
    secrets,
    revision: 1,
    launchRevision: 1,
    era: null,
    catalog: null,
    lastKnown: null,
    createdAt: at,
    updatedAt: at,
  };
}

const stdio = record('stdio', { command: 'node', args: ['x', { secret: 't' }] }, [
  { kind: 'environment', name: 'A', position: 0, flags: [] },
  { kind: 'environment', name: 'B', position: 1, flags: [] },
  { kind: 'argument', name: 't', position: 1, flags: [] },
]);
const http = record('http', { baseUrl: 'https://a.example/mcp', callTimeoutMs: 5_000 }, [
  { kind: 'header', name: 'X', position: 0, flags: [] },
]);

type Effect = { scopes: string[]; affectsLaunch: boolean; changes: boolean };
const effect = (stored: ConnectionRecord, body: ChangeConnectionBody): Effect => {
  const { scopes, affectsLaunch, changes } = proposeChange(stored, body);
  return { scopes, affectsLaunch, changes };
};
const nothing: Effect = { scopes: [], affectsLaunch: false, changes: false };
const launch: Effect = { scopes: ['launch'], affectsLaunch: true, changes: true };
const restart: Effect = { scopes: ['write'], affectsLaunch: true, changes: true };
const quiet: Effect = { scopes: ['write'], affectsLaunch: false, changes: true };

describe('proposeChange', () => {
  it.each<[string, ConnectionRecord, ChangeConnectionBody, Effect]>([
    ['nothing', stdio, {}, nothing],
    ['the same again', stdio, { name: 'n', command: 'node', args: ['x', { secret: 't' }], enabled: true }, nothing],
    ['the same variables without values', stdio, { environmentVariables: [{ name: 'A' }, { name: 'B' }] }, nothing],
    [
      'the order of variables',
      stdio,
      { environmentVariables: [{ name: 'B' }, { name: 'A' }] },
      { ...nothing, changes: true },
    ],
    ['the command', stdio, { command: 'deno' }, launch],
    ['the arguments', stdio, { args: ['y', { secret: 't' }] }, launch],
    ['a secret argument', stdio, { args: ['x', { secret: 't', value: 'v' }] }, launch],
    ['no arguments', stdio, { args: null }, launch],
    ['the directory', stdio, { cwd: '/tmp' }, launch],
    ['a variable', stdio, { environmentVariables: [{ name: 'A' }, { name: 'B', value: 'v' }] }, launch],
    ['a variable less', stdio, { environmentVariables: [{ name: 'A' }] }, launch],
    ['command and name', stdio, { command: 'deno', name: 'm' }, { ...launch, scopes: ['launch', 'write'] }],
    ['lifecycle', stdio, { lifecycle: 'keep_alive' }, restart],
    ['enabled', stdio, { enabled: false }, restart],
    ['session scope', stdio, { sessionScope: 'agent' }, restart],
    ['name', stdio, { name: 'm' }, quiet],
    ['a timeout', http, { callTimeoutMs: 6_000 }, quiet],
    ['a timeout to its default', http, { callTimeoutMs: null }, quiet],
    ['a tool filter', http, { allowTools: [] }, quiet],
    ['the audience', http, { sealedAudience: ['b'] }, quiet],
    ['the path of the URL', http, { baseUrl: 'https://a.example/other' }, restart],
    ['an API key', http, { apiKey: 'k' }, restart],
    ['no headers', http, { headers: null }, restart],
    ['a query parameter', http, { queryParameters: [{ name: 'q', value: 'v' }] }, restart],
    ['a blank API key', http, { apiKey: '' }, nothing],
  ])('%s', (_what, stored, body, expected) => {
    expect(effect(stored, body)).toEqual(expected);
  });

  it('goes back to defaults for null and leaves alone what is left out', () => {
    expect(proposeChange(http, { callTimeoutMs: null }).settings.callTimeoutMs).toBe(30_000);
    expect(proposeChange(http, { name: 'm' }).settings).toMatchObject({ name: 'm', callTimeoutMs: 5_000 });
    expect(proposeChange(stdio, { args: null }).plan.remove).toEqual([{ kind: 'argument', name: 't' }]);
  });

  it('refuses to take away what the transport needs', () => {
    expect(() => proposeChange(stdio, { command: null })).toThrow(/command is required/);
    expect(() => proposeChange(http, { baseUrl: null })).toThrow(/baseUrl is required/);
  });

  it('lets no stored secret follow the URL to another origin', () => {
    const moved = { baseUrl: 'https://b.example/mcp' };
    expect(() => proposeChange(http, moved)).toThrow(
      expect.objectContaining({ code: 'secrets_required_for_new_origin' }),
    );
    expect(proposeChange(http, { ...moved, headers: [] }).changes).toBe(true);
  });
});

describe('proposeCreation', () => {
  it('needs launch for stdio and write for http', () => {
    expect(proposeCreation({ name: 'n', transport: 'stdio', command: 'node' }).scopes).toEqual(['launch']);
    expect(proposeCreation({ name: 'n', transport: 'http', baseUrl: 'https://a.example' }).scopes).toEqual(['write']);
  });

  it('takes null for the default', () => {
    const body = {
      name: 'n',
      transport: 'stdio' as const,
      command: 'node',
      enabled: null,
      args: null,
      lifecycle: null,
    };
    expect(proposeCreation(body).settings).toMatchObject({ enabled: true, args: [], lifecycle: 'ephemeral' });
  });

  it('keeps ids of mods for mods', () => {
    expect(() => proposeCreation({ id: 'mod.x', name: 'n', transport: 'stdio', command: 'node' })).toThrow(/mod\./);
  });

  it('demands values for every secret', () => {
    const body = { name: 'n', transport: 'stdio' as const, command: 'node', args: [{ secret: 't' }] };
    expect(() => proposeCreation(body)).toThrow(expect.objectContaining({ code: 'secret_value_required' }));
  });
});
