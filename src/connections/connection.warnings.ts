import type { SecretMark } from './connection.record.js';
import type { ConnectionSettings } from './connection.settings.js';
import { secretLookingParameters } from './base-url.js';
import { secretField } from './secret-changes.js';
import { hasPlaceholder } from './secret-values.js';

export type ConnectionWarningCode =
  | 'command_contains_blank'
  | 'discovery_failed'
  | 'placeholder_not_expanded'
  | 'secret_too_short_to_redact'
  | 'stdio_ephemeral_slow'
  | 'url_query_not_secret';

/** A remark on a saved connection; nothing in it is secret. */
export interface ConnectionWarning {
  field: string;
  code: ConnectionWarningCode;
  message: string;
}

/** Remarks on a connection as stored. Needs no secret value: what matters of one was flagged when it was saved. */
export function warningsOf(settings: ConnectionSettings, secrets: readonly SecretMark[]): ConnectionWarning[] {
  return [
    ...lifecycleWarnings(settings),
    ...commandWarnings(settings),
    ...urlWarnings(settings),
    ...literalWarnings(settings),
    ...secretWarnings(secrets),
  ];
}

function lifecycleWarnings({ transport, lifecycle }: ConnectionSettings): ConnectionWarning[] {
  if (transport !== 'stdio' || lifecycle !== 'ephemeral') return [];
  const message = 'Each call starts a process of its own; keep_alive starts one and keeps it.';
  return [{ field: 'lifecycle', code: 'stdio_ephemeral_slow', message }];
}

function commandWarnings({ command }: ConnectionSettings): ConnectionWarning[] {
  if (command === null || !/\s/.test(command)) return [];
  const message = 'A blank is part of the name of the executable here; put arguments into args.';
  return [{ field: 'command', code: 'command_contains_blank', message }];
}

function urlWarnings({ baseUrl }: ConnectionSettings): ConnectionWarning[] {
  const names = baseUrl === null ? [] : secretLookingParameters(baseUrl);
  if (names.length === 0) return [];
  const message = `The URL is answered as saved, but its query looks as if it held a secret (${names.join(', ')}); use queryParameters.`;
  return [{ field: 'baseUrl', code: 'url_query_not_secret', message }];
}

function literalWarnings({ baseUrl, command, args, cwd }: ConnectionSettings): ConnectionWarning[] {
  const literals: [string, string | null][] = [
    ['baseUrl', baseUrl],
    ['command', command],
    ['cwd', cwd],
    ...args.map((value, index): [string, string | null] => [
      `args[${index}]`,
      typeof value === 'string' ? value : null,
    ]),
  ];
  return literals.flatMap(([field, text]) =>
    text !== null && hasPlaceholder(text) ? [placeholderWarning(field)] : [],
  );
}

function secretWarnings(secrets: readonly SecretMark[]): ConnectionWarning[] {
  return secrets.flatMap(({ kind, position, flags }) => {
    const field = kind === 'api_key' ? secretField[kind] : `${secretField[kind]}[${position}].value`;
    return flags.map((flag) => (flag === 'placeholder' ? placeholderWarning(field) : shortWarning(field)));
  });
}

function placeholderWarning(field: string): ConnectionWarning {
  const message = 'Holds ${…}, which is used literally: nothing is expanded from the environment of this server.';
  return { field, code: 'placeholder_not_expanded', message };
}

function shortWarning(field: string): ConnectionWarning {
  const message = 'Has fewer than 8 characters, too few to find and mask it in what the provider says.';
  return { field, code: 'secret_too_short_to_redact', message };
}
