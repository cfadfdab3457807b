import type { OperatorScope } from '../principal.js';
import { requireSecretsForOrigin, planSecrets, type SecretPlan } from './secret-changes.js';
import type { ConnectionRecord } from './connection.record.js';
import { checkImmutable, checkRequest, checkResult, type ConnectionRequest, idProblem } from './connection.rules.js';
import {
  affectsLaunch,
  changedSettings,
  type ConnectionSettings,
  differences,
  initialSettings,
  settingsOf,
  type SettingsChange,
} from './connection.settings.js';
import type { ChangeConnectionBody, CreateConnectionBody } from './connection.dto.js';
import { parseArguments, type ParsedArguments } from './launch-arguments.js';
import { refuseFields } from './refuse-fields.js';

/** A connection as it would be stored, and what that takes. */
export interface Proposal {
  settings: ConnectionSettings;
  plan: SecretPlan;
  /** Whether anything differs from what is stored. */
  changes: boolean;
  /** Whether live sessions must end. */
  affectsLaunch: boolean;
  /** Whether it decides which code runs, or with what. */
  changesProcess: boolean;
  scopes: OperatorScope[];
}

/**
 * What a create request asks for; pure.
 * Errors: every `ProblemError` of the rules of connections and of their secrets.
 */
export function proposeCreation(body: CreateConnectionBody): Proposal {
  checkRequest(body.transport, body);
  const wrongId = typeof body.id === 'string' ? idProblem(body.id) : undefined;
  if (wrongId !== undefined)
    refuseFields('validation_failed', 'The request is not valid', [{ path: 'id', message: wrongId }]);
  const args = parsedArguments(body);
  const settings = initialSettings(body.name, body.transport, settingsIn(body, args));
  const plan = planSecrets([], body, args?.secrets);
  checkResult(settings, plan);
  const stdio = settings.transport === 'stdio';
  return {
    settings,
    plan,
    changes: true,
    affectsLaunch: true,
    changesProcess: stdio,
    scopes: [stdio ? 'launch' : 'write'],
  };
}

/**
 * What a change request asks for, given what is stored; pure.
 * Errors: every `ProblemError` of the rules of connections and of their secrets.
 */
export function proposeChange(stored: ConnectionRecord, body: ChangeConnectionBody): Proposal {
  checkImmutable(stored, body);
  checkRequest(stored.transport, body);
  const args = parsedArguments(body);
  const before = settingsOf(stored);
  const settings = changedSettings(before, settingsIn(body, args));
  const plan = planSecrets(stored.secrets, body, args?.secrets);
  checkResult(settings, plan);
  requireSecretsForOrigin(before.baseUrl, settings.baseUrl, plan);

  const fields = differences(before, settings);
  const secretsChange = plan.set.length > 0 || plan.remove.length > 0;
  const process = settings.transport === 'stdio' && (secretsChange || fields.some((field) => processFields.has(field)));
  const other = fields.some((field) => !processFields.has(field)) || (secretsChange && !process);
  return {
    settings,
    plan,
    changes: fields.length > 0 || secretsChange || reordered(stored, plan),
    affectsLaunch: affectsLaunch(fields) || secretsChange,
    changesProcess: process,
    scopes: [...(process ? (['launch'] as const) : []), ...(other ? (['write'] as const) : [])],
  };
}

const processFields = new Set<keyof ConnectionSettings>(['command', 'args', 'cwd']);

function parsedArguments(body: ConnectionRequest): ParsedArguments | undefined {
  if (body.args === undefined) return undefined;
  const parsed = parseArguments(body.args ?? []);
  refuseFields('validation_failed', 'The request is not valid', parsed.problems);
  return parsed;
}

function settingsIn(
  body: CreateConnectionBody | ChangeConnectionBody,
  parsed: ParsedArguments | undefined,
): SettingsChange {
  const { args, ...change } = body;
  return parsed === undefined ? change : { ...change, args: args === null ? null : parsed.args };
}

function reordered({ secrets }: ConnectionRecord, { keep }: SecretPlan): boolean {
  return keep.some(({ kind, name, position }) =>
    secrets.some((mark) => mark.kind === kind && mark.name === name && mark.position !== position),
  );
}
