import { describe, expect, it } from '@jest/globals';
import type { LaunchArgument } from '../database.schema.js';
import { ProblemError } from '../errors.js';
import { checkStdioPolicy } from './stdio-policy.js';

function verdict(
  commands: string[],
  command: string,
  args: LaunchArgument[] = [],
  environmentNames: string[] = [],
  mode: 'allow' | 'off' = 'allow',
): string {
  try {
    checkStdioPolicy({ mode, commands }, { command, args, environmentNames });
    return 'allowed';
  } catch (error) {
    return error instanceof ProblemError ? error.code : String(error);
  }
}

const LIST = ['npx -y @scope/pkg@1.2.3', '/usr/bin/python3  server.py', 'uvx'];

describe('checkStdioPolicy', () => {
  it('refuses everything when stdio is off', () => {
    expect(verdict([], 'node', [], [], 'off')).toBe('stdio_not_allowed');
    expect(verdict(['node'], 'node', [], [], 'off')).toBe('stdio_not_allowed');
  });

  it('allows any command without a list', () => {
    expect(verdict([], '/tmp/anything', ['x'], ['PATH', 'NODE_OPTIONS'])).toBe('allowed');
  });

  it.each<[string, LaunchArgument[], string]>([
    ['npx', ['-y', '@scope/pkg@1.2.3'], 'allowed'],
    ['npx', ['-y', '@scope/pkg@1.2.3', '--more', { secret: 'token' }], 'allowed'],
    ['npx', ['-y', '@scope/pkg@1.2.30'], 'stdio_not_allowed'],
    ['npx', ['-y'], 'stdio_not_allowed'],
    ['npx', ['-y @scope/pkg@1.2.3'], 'stdio_not_allowed'],
    ['npx', ['@scope/pkg@1.2.3', '-y'], 'stdio_not_allowed'],
    ['npx', ['-y', { secret: '@scope/pkg@1.2.3' }], 'stdio_not_allowed'],
    ['/tmp/npx', ['-y', '@scope/pkg@1.2.3'], 'stdio_not_allowed'],
    ['NPX', ['-y', '@scope/pkg@1.2.3'], 'stdio_not_allowed'],
    ['/usr/bin/python3', ['server.py'], 'allowed'],
    ['python3', ['server.py'], 'stdio_not_allowed'],
    ['uvx', [], 'allowed'],
    ['uvx', ['whatever'], 'allowed'],
    ['node', [], 'stdio_not_allowed'],
  ])('under a list: %s %j is %s', (command, args, expected) => {
    expect(verdict(LIST, command, args)).toBe(expected);
  });

  it.each([
    'PATH',
    'LD_PRELOAD',
    'DYLD_INSERT_LIBRARIES',
    'NODE_OPTIONS',
    'BASH_ENV',
    'PYTHONPATH',
    'GIT_SSH_COMMAND',
    'npm_config_registry',
    'NPM_CONFIG_REGISTRY',
    'UV_INDEX_URL',
    'PIP_INDEX_URL',
    'NODE_PATH',
    'ENV',
    'SHELLOPTS',
    'PS4',
    'PERL5OPT',
    'RUBYOPT',
    'JAVA_TOOL_OPTIONS',
    'DOTNET_STARTUP_HOOKS',
  ])('reserves %s under a list only', (name) => {
    expect(verdict(LIST, 'uvx', [], ['OK', name])).toBe('environment_variable_reserved');
    expect(verdict([], 'uvx', [], ['OK', name])).toBe('allowed');
  });

  it.each(['HOME', 'NODE_ENV', 'ENVIRONMENT', 'PIPELINE', 'PS', 'LUA', 'MY_PATH', 'PATHS', 'GITHUB_TOKEN'])(
    'leaves %s free',
    (name) => {
      expect(verdict(LIST, 'uvx', [], [name])).toBe('allowed');
    },
  );

  it('always reserves its own variables', () => {
    expect(verdict([], 'uvx', [], ['WARREN_CHILD'])).toBe('environment_variable_reserved');
    expect(verdict(LIST, 'uvx', [], ['warren_child'])).toBe('environment_variable_reserved');
  });

  it('names the field', () => {
    expect(() =>
      checkStdioPolicy(
        { mode: 'allow', commands: [] },
        { command: 'a', args: [], environmentNames: ['A', 'WARREN_X'] },
      ),
    ).toThrow('environmentVariables[1].name');
  });
});
