import type { SecretKind, Transport } from '../database.schema.js';
import { type FieldProblem, ProblemError } from '../errors.js';
import { baseUrlProblem } from './base-url.js';
import type { ConnectionSettings } from './connection.settings.js';
import { refuseFields } from './refuse-fields.js';
import { sameName, type SecretEntry, type SecretFields, type SecretPlan, secretField } from './secret-changes.js';

/** What of a request these rules look at; shapes and bounds were checked before. */
export interface ConnectionRequest extends SecretFields {
  id?: string | null;
  name?: string | null;
  transport?: Transport;
  baseUrl?: string | null;
  command?: string | null;
  args?: readonly unknown[] | null;
  cwd?: string | null;
  auth?: Record<string, unknown> | null;
}

const foreignFields: Record<Transport, readonly (keyof ConnectionRequest)[]> = {
  http: ['command', 'args', 'cwd', 'environmentVariables'],
  stdio: ['baseUrl', 'apiKey', 'headers', 'queryParameters'],
};

/** Names that stand in the place of an id in paths of their own, and those that a URL path swallows. */
const reservedIds = new Set(['.', '..', 'export', 'import', 'discover', 'diagnose']);

/** What the protocol or the HTTP client sets by itself. */
const reservedHeader =
  /^(host|content-.*|accept|connection|transfer-encoding|mcp-.*|keep-alive|upgrade|expect|te|trailer|proxy-connection)$/i;

/** Whether an operator may choose this id; Warren's own default ids follow the same rule. */
export function idProblem(id: string): string | undefined {
  if (id.startsWith('mod.')) return 'must not begin with "mod.", which is kept for mods';
  return reservedIds.has(id) ? 'is reserved' : undefined;
}

/**
 * Everything about a request that does not depend on what is stored.
 * Errors: `validation_failed`, `header_reserved`, `auth_type_unsupported`.
 */
export function checkRequest(transport: Transport, request: ConnectionRequest): void {
  refuseFields('validation_failed', 'The request is not valid', [
    ...foreignFieldProblems(transport, request),
    ...duplicateProblems('header', request.headers),
    ...duplicateProblems('query_parameter', request.queryParameters),
    ...duplicateProblems('environment', request.environmentVariables),
  ]);
  refuseFields('header_reserved', 'A header that Warren sets itself', reservedHeaderProblems(request.headers));
  checkAuth(request.auth);
}

/**
 * What cannot change: `id` and `transport`. Sending the same value is fine.
 * Errors: `immutable_field`; `validation_failed` for a name of null, which has no default.
 */
export function checkImmutable(stored: { id: string; transport: Transport }, request: ConnectionRequest): void {
  const changed = (['id', 'transport'] as const).filter(
    (field) => request[field] !== undefined && request[field] !== stored[field],
  );
  refuseFields(
    'immutable_field',
    'A field cannot change',
    changed.map((path) => ({ path, message: 'cannot change after creation' })),
  );
  if (request.name === null) {
    refuseFields('validation_failed', 'The request is not valid', [{ path: 'name', message: 'has no default' }]);
  }
}

/**
 * What must hold of a connection as it will be stored.
 * Errors: `validation_failed`.
 */
export function checkResult(settings: ConnectionSettings, plan: SecretPlan): void {
  refuseFields('validation_failed', 'The request is not valid', [
    ...requiredProblems(settings),
    ...authorizationProblems(plan),
  ]);
}

function foreignFieldProblems(transport: Transport, request: ConnectionRequest): FieldProblem[] {
  return foreignFields[transport]
    .filter((field) => !isAbsent(request[field]))
    .map((path) => ({ path, message: `does not apply to transport ${transport}` }));
}

/** A form may send the empty fields of the other transport along. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

function duplicateProblems(kind: SecretKind, entries: readonly SecretEntry[] | null | undefined): FieldProblem[] {
  const names = (entries ?? []).map(({ name }) => name);
  return names.flatMap((name, index) =>
    names.findIndex((other) => sameName(kind, other, name)) < index
      ? [{ path: `${secretField[kind]}[${index}].name`, message: 'repeats an earlier name' }]
      : [],
  );
}

function reservedHeaderProblems(headers: readonly SecretEntry[] | null | undefined): FieldProblem[] {
  return (headers ?? []).flatMap(({ name }, index) =>
    reservedHeader.test(name) ? [{ path: `headers[${index}].name`, message: `must not be ${name}` }] : [],
  );
}

function checkAuth(auth: Record<string, unknown> | null | undefined): void {
  if (auth === undefined || auth === null) return;
  if (typeof auth['type'] !== 'string' || auth['type'] === '') {
    refuseFields('validation_failed', 'The request is not valid', [{ path: 'auth.type', message: 'must be text' }]);
  }
  throw new ProblemError('auth_type_unsupported', 'No auth type is supported yet; apiKey sends a bearer token.', {
    errors: [{ path: 'auth.type', message: 'is not supported' }],
  });
}

function requiredProblems({ transport, baseUrl, command }: ConnectionSettings): FieldProblem[] {
  if (transport === 'stdio') return command === null ? [{ path: 'command', message: 'is required for stdio' }] : [];
  if (baseUrl === null) return [{ path: 'baseUrl', message: 'is required for http' }];
  const problem = baseUrlProblem(baseUrl);
  return problem === undefined ? [] : [{ path: 'baseUrl', message: problem }];
}

/** An API key is an Authorization header, and there can be only one. */
function authorizationProblems({ keep, set }: SecretPlan): FieldProblem[] {
  const held = [...keep, ...set];
  const header = held.find(({ kind, name }) => kind === 'header' && sameName('header', name, 'Authorization'));
  if (header === undefined || !held.some(({ kind }) => kind === 'api_key')) return [];
  return [{ path: `headers[${header.position}].name`, message: 'must not be Authorization together with apiKey' }];
}
