import type { LaunchArgument } from '../database.schema.js';
import { ProblemError } from '../errors.js';
import { refuseFields } from './refuse-fields.js';

/** What the administrator allows of stdio connections. */
export interface StdioPolicy {
  /** `off`: none at all. */
  mode: 'allow' | 'off';
  /** Allowed commands, each with a leading argument prefix, parted by blanks; empty: any. */
  commands: readonly string[];
}

export interface StdioRequest {
  command: string;
  args: readonly LaunchArgument[];
  environmentNames: readonly string[];
}

/**
 * Variables that change which program runs or what it loads; refused where only listed commands may run. One value can be
 * enough to run anything: a shell script takes commands from PS4, a package runner packages from the index it is given.
 */
const reservedUnderList = new RegExp(
  `^(${[
    'PATH|LD_.*|DYLD_.*|GCONV_PATH',
    'NODE_OPTIONS|NODE_PATH|BUN_.*|DENO_.*',
    'ENV|BASH_.*|BASHOPTS|SHELLOPTS|PS4|PROMPT_COMMAND',
    'PYTHON.*|PERL.*|RUBY.*|LUA_.*|PHP.*',
    'JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_.*|DOTNET_.*|CORECLR_.*',
    'GIT_.*|npm_config_.*|yarn_.*|pnpm_.*|pip_.*|pipx_.*|uv_.*',
  ].join('|')})$`,
  'i',
);
/** Warren's own, such as the mark by which it finds its children again. */
const reservedAlways = /^WARREN_/i;

/**
 * Checks a stdio launch against the policy; asked when it is saved and again before each start, since the policy may
 * have changed in between.
 * Errors: `stdio_not_allowed`, `environment_variable_reserved`.
 */
export function checkStdioPolicy(policy: StdioPolicy, request: StdioRequest): void {
  if (policy.mode === 'off') {
    throw new ProblemError('stdio_not_allowed', 'WARREN_STDIO=off: this server runs no stdio connections.');
  }
  const limited = policy.commands.length > 0;
  if (limited && !policy.commands.some((entry) => matchesEntry(entry, request))) {
    throw new ProblemError(
      'stdio_not_allowed',
      'WARREN_STDIO_COMMANDS does not list this command with these leading arguments.',
      { errors: [{ path: 'command', message: 'is not allowed on this server' }] },
    );
  }
  refuseFields(
    'environment_variable_reserved',
    'An environment variable that may not be set',
    request.environmentNames
      .map((name, index) => ({ name, path: `environmentVariables[${index}].name` }))
      .filter(({ name }) => reservedAlways.test(name) || (limited && reservedUnderList.test(name)))
      .map(({ name, path }) => ({ path, message: `must not be ${name}` })),
  );
}

/** Compared word for word: a secret argument matches no word, and a path matches no bare name. */
function matchesEntry(entry: string, { command, args }: StdioRequest): boolean {
  const [allowed, ...prefix] = entry.split(/\s+/).filter((word) => word !== '');
  return command === allowed && prefix.every((word, index) => args[index] === word);
}
