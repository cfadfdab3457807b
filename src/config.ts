import { oauthProblems } from './config.oauth.js';
import { variables, type Variable, type VariableName, type VariableValue } from './config.variables.js';

/** What the operator set, parsed; a variable without a default may be undefined. */
export type Settings = {
  readonly [Name in VariableName]: (typeof variables)[Name] extends { fallback: string }
    ? VariableValue<Name>
    : VariableValue<Name> | undefined;
};

/** Where an effective value came from. */
export type SettingSource = 'environment' | 'default' | 'unset';

export interface EffectiveSetting {
  name: VariableName;
  /** The value as text; secrets are masked. */
  value: string;
  source: SettingSource;
  describe: string;
}

export interface Config {
  settings: Settings;
  effective: EffectiveSetting[];
}

/** Every problem of the environment at once, one line each. */
export class ConfigError extends Error {
  constructor(readonly problems: string[]) {
    super(`Warren cannot start with this environment:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/** Set on provider processes so that a later start can find leftovers; meaningless in Warren's own environment. */
const IGNORED = new Set(['WARREN_CHILD']);

/**
 * Reads and validates the environment.
 * Errors: `ConfigError` naming every bad or unknown `WARREN_*` variable at once.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const problems = unknownVariables(environment);
  const settings: Record<string, unknown> = {};
  const effective: EffectiveSetting[] = [];
  for (const [name, definition] of entries()) {
    const set = environment[name];
    // An empty value means "unset": compose files and unit files often leave names without a value.
    const given = set !== undefined && set !== '';
    const text = given ? set : definition.fallback;
    const source = given ? 'environment' : text === undefined ? 'unset' : 'default';
    try {
      settings[name] = text === undefined ? undefined : definition.parse(text);
    } catch (error) {
      problems.push(`${name} ${error instanceof Error ? error.message : 'is not valid'}`);
    }
    effective.push({ name, value: shown(definition, text, given), source, describe: definition.describe });
  }
  if (settings.WARREN_SECRET_KEYS !== undefined && settings.WARREN_SECRET_KEYS_FILE !== undefined) {
    problems.push('WARREN_SECRET_KEYS and WARREN_SECRET_KEYS_FILE are both set; set one of them');
  }
  const given = (name: string): boolean => (environment[name] ?? '') !== '';
  problems.push(...oauthProblems(given));
  if (problems.length > 0) throw new ConfigError(problems);
  return { settings: settings as Settings, effective };
}

/** Reads this process's environment; the only place that does. */
export function readProcessConfig(): Config {
  return readConfig(process.env);
}

function entries(): [VariableName, Variable<unknown>][] {
  return Object.entries(variables) as [VariableName, Variable<unknown>][];
}

function unknownVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
  const known = Object.keys(variables);
  return Object.keys(environment)
    .filter((name) => name.startsWith('WARREN_') && !known.includes(name) && !IGNORED.has(name))
    .filter((name) => environment[name] !== undefined && environment[name] !== '')
    .map((name) => `${name} is not a variable Warren knows; \`warren config\` lists those it does`);
}

function shown(definition: Variable<unknown>, text: string | undefined, given: boolean): string {
  if (text === undefined) return '';
  return definition.secret && given ? '********' : text;
}
