import type { ConnectionRecord, SecretMark } from './connection.record.js';

/** One entry in the shape that desktop MCP clients read. */
export interface ExportedServer {
  type: 'stdio' | 'http';
  command?: string;
  args?: string[];
  cwd?: string;
  env?: Record<string, string>;
  url?: string;
  headers?: Record<string, string>;
  disabled?: true;
}

/**
 * A connection without its secrets: in the place of each value stands `${NAME}`, which those clients ask for or read
 * from their own environment. Secret query parameters are left out, as a URL has no safe place for them.
 */
export function exportedServer(record: ConnectionRecord): ExportedServer {
  const disabled = record.enabled ? {} : { disabled: true as const };
  if (record.transport === 'http') {
    const headers = { ...bearer(record.secrets), ...placeholders(record.secrets, 'header') };
    return { type: 'http', url: record.baseUrl ?? '', ...unlessEmpty('headers', headers), ...disabled };
  }
  return {
    type: 'stdio',
    command: record.command ?? '',
    args: record.args.map((argument) => (typeof argument === 'string' ? argument : placeholder(argument.secret))),
    ...(record.cwd === null ? {} : { cwd: record.cwd }),
    ...unlessEmpty('env', placeholders(record.secrets, 'environment')),
    ...disabled,
  };
}

function bearer(secrets: readonly SecretMark[]): Record<string, string> {
  return secrets.some(({ kind }) => kind === 'api_key') ? { Authorization: 'Bearer ${API_KEY}' } : {};
}

function placeholders(secrets: readonly SecretMark[], of: SecretMark['kind']): Record<string, string> {
  return Object.fromEntries(secrets.filter(({ kind }) => kind === of).map(({ name }) => [name, placeholder(name)]));
}

function placeholder(name: string): string {
  return `\${${name.toUpperCase().replace(/[^A-Z0-9_]/g, '_')}}`;
}

function unlessEmpty<Field extends string>(
  field: Field,
  values: Record<string, string>,
): { [name in Field]?: Record<string, string> } {
  return Object.keys(values).length === 0 ? {} : ({ [field]: values } as { [name in Field]: Record<string, string> });
}
