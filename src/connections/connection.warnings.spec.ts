import { describe, expect, it } from '@jest/globals';
import type { Transport } from '../database.schema.js';
import type { SecretMark } from './connection.record.js';
import { initialSettings, type SettingsChange } from './connection.settings.js';
import { warningsOf } from './connection.warnings.js';

const warned = (transport: Transport, change: SettingsChange, secrets: SecretMark[] = []): string[] =>
  warningsOf(initialSettings('n', transport, change), secrets).map(({ field, code }) => `${field} ${code}`);

describe('warningsOf', () => {
  it('says that ephemeral stdio is slow, and nothing of the others', () => {
    expect(warned('stdio', { command: 'node' })).toEqual(['lifecycle stdio_ephemeral_slow']);
    expect(warned('stdio', { command: 'node', lifecycle: 'keep_alive' })).toEqual([]);
    expect(warned('http', { baseUrl: 'https://a.example' })).toEqual([]);
  });

  it('says where something looks as if it were to be expanded', () => {
    const args = ['plain', '--dir=${HOME}', { secret: 's' }];
    expect(warned('stdio', { command: '${NODE}', cwd: '${PWD}', args, lifecycle: 'keep_alive' })).toEqual([
      'command placeholder_not_expanded',
      'cwd placeholder_not_expanded',
      'args[1] placeholder_not_expanded',
    ]);
  });

  it('says of secrets what was flagged', () => {
    const secrets: SecretMark[] = [
      { kind: 'api_key', name: 'apiKey', position: 0, flags: ['short'] },
      { kind: 'header', name: 'X', position: 1, flags: ['placeholder', 'short'] },
      { kind: 'query_parameter', name: 'q', position: 0, flags: [] },
    ];
    expect(warned('http', { baseUrl: 'https://a.example' }, secrets)).toEqual([
      'apiKey secret_too_short_to_redact',
      'headers[1].value placeholder_not_expanded',
      'headers[1].value secret_too_short_to_redact',
    ]);
  });

  it('says that a URL is no place for secrets', () => {
    expect(warned('http', { baseUrl: 'https://a.example?api_key=1' })).toEqual(['baseUrl url_query_not_secret']);
  });
});
