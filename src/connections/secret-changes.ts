import type { SecretKind } from '../database.schema.js';
import type { FieldProblem } from '../errors.js';
import type { SecretMark } from './connection.record.js';
import { refuseFields } from './refuse-fields.js';
import { bareKey, valueProblem } from './secret-values.js';

/** The name the one API key of a connection is stored under. */
export const API_KEY_NAME = 'apiKey';

/** One named secret as sent; without `value` the stored one stays. */
export interface SecretEntry {
  name: string;
  value?: string | null;
}

/** The secret fields of a create or change request. */
export interface SecretFields {
  apiKey?: string | null;
  headers?: SecretEntry[] | null;
  queryParameters?: SecretEntry[] | null;
  environmentVariables?: SecretEntry[] | null;
}

export interface NewSecret {
  kind: SecretKind;
  name: string;
  position: number;
  value: string;
}

/** What happens to the stored secrets of a connection: every one is in exactly one list, or replaced by `set`. */
export interface SecretPlan {
  /** Stored ones that stay, at their position from now on. */
  keep: Pick<SecretMark, 'kind' | 'name' | 'position'>[];
  set: NewSecret[];
  remove: Pick<SecretMark, 'kind' | 'name'>[];
}

/** The field each kind travels in. */
export const secretField: Record<SecretKind, string> = {
  api_key: 'apiKey',
  header: 'headers',
  query_parameter: 'queryParameters',
  environment: 'environmentVariables',
  argument: 'args',
};

/** A plan, or what stands against it. */
interface Planned {
  plan: SecretPlan;
  /** Values that cannot be used; 400. */
  invalid: FieldProblem[];
  /** Entries without a value that have none stored either; 422. */
  missing: FieldProblem[];
}

/**
 * What a request does to the stored secrets. `args` are the secret arguments in their places, undefined when the
 * request leaves the arguments alone.
 * Errors: `validation_failed` naming unusable values, `secret_value_required`; neither repeats a value.
 */
export function planSecrets(
  stored: readonly SecretMark[],
  fields: SecretFields,
  args: readonly PlacedEntry[] | null | undefined,
): SecretPlan {
  const planned = [
    planApiKey(stored, fields.apiKey),
    planSet('header', stored, placed('header', fields.headers)),
    planSet('query_parameter', stored, placed('query_parameter', fields.queryParameters)),
    planSet('environment', stored, placed('environment', fields.environmentVariables)),
    planSet('argument', stored, args),
  ];
  refuseFields(
    'validation_failed',
    'A secret value cannot be used',
    planned.flatMap(({ invalid }) => invalid),
  );
  refuseFields(
    'secret_value_required',
    'A secret has no value yet',
    planned.flatMap(({ missing }) => missing),
  );
  return {
    keep: planned.flatMap(({ plan }) => plan.keep),
    set: planned.flatMap(({ plan }) => plan.set),
    remove: planned.flatMap(({ plan }) => plan.remove),
  };
}

/** A secret entry and where it was sent: `path` names it in errors, `position` orders it in answers. */
export interface PlacedEntry extends SecretEntry {
  path: string;
  position: number;
}

/** Left out or blank: unchanged. `null`: cleared. Else replaced. */
export function planApiKey(stored: readonly SecretMark[], apiKey: string | null | undefined): Planned {
  const blank = apiKey !== null && (apiKey === undefined || apiKey.trim() === '');
  if (blank) return planSet('api_key', stored, undefined);
  const entries = apiKey === null ? [] : [{ name: API_KEY_NAME, value: bareKey(apiKey), path: 'apiKey', position: 0 }];
  return planSet('api_key', stored, entries);
}

/**
 * Left out: unchanged. Else the entries replace the set: one with a value is set, one without keeps what is stored, and
 * what is not named is removed. `null` is the default, the empty set.
 */
export function planSet(
  kind: SecretKind,
  stored: readonly SecretMark[],
  entries: readonly PlacedEntry[] | null | undefined,
): Planned {
  const held = stored.filter((mark) => mark.kind === kind);
  const planned: Planned = { plan: { keep: [], set: [], remove: [] }, invalid: [], missing: [] };
  const { keep, set, remove } = planned.plan;
  if (entries === undefined) {
    keep.push(...held.map(({ name, position }) => ({ kind, name, position })));
    return planned;
  }
  for (const { name, value, path, position } of entries ?? []) {
    const before = held.find((mark) => sameName(kind, mark.name, name));
    if (typeof value === 'string') {
      const problem = valueProblem(kind, value);
      if (problem !== undefined) planned.invalid.push({ path, message: problem });
      set.push({ kind, name, position, value });
    } else if (before === undefined) {
      planned.missing.push({ path, message: `is required: no value is stored for ${name}` });
    } else {
      // The stored spelling stays: a secret is sealed together with its name.
      keep.push({ kind, name: before.name, position });
    }
  }
  const named = new Set([...keep, ...set].map(({ name }) => name));
  remove.push(...held.filter(({ name }) => !named.has(name)).map(({ name }) => ({ kind, name })));
  return planned;
}

/**
 * A stored secret never follows a URL to another origin (scheme, host and port): each must be supplied anew or dropped.
 * Errors: `secrets_required_for_new_origin`.
 */
export function requireSecretsForOrigin(before: string | null, after: string | null, plan: SecretPlan): void {
  if (before === null || after === null || new URL(before).origin === new URL(after).origin) return;
  const following = plan.keep.map(({ kind, name }) => ({
    path: secretField[kind],
    message: kind === 'api_key' ? 'must be supplied anew or cleared' : `${name} must be supplied anew or left out`,
  }));
  refuseFields('secrets_required_for_new_origin', 'The stored secrets were saved for another origin', following);
}

/** Header names are the same in any case; all others as spelled. */
export function sameName(kind: SecretKind, one: string, other: string): boolean {
  return kind === 'header' ? one.toLowerCase() === other.toLowerCase() : one === other;
}

function placed(kind: SecretKind, entries: SecretEntry[] | null | undefined): PlacedEntry[] | null | undefined {
  if (entries === null || entries === undefined) return entries;
  return entries.map(({ name, value }, position) => ({
    name,
    ...(typeof value === 'string' ? { value } : {}),
    position,
    path: `${secretField[kind]}[${position}].value`,
  }));
}
