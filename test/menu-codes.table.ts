import { expect } from '@jest/globals';
import type { CallCode } from '../src/runtime/call-codes.js';
import { startRefusingProvider, type RefusingProvider } from './providers/refusing-provider.js';
import { MenuBench } from './support/menu-bench.js';

/** What the rows need: connections that each fail in their way, and agents that hold grants there. */
export interface FailureFixture {
  bench: MenuBench;
  remote: RefusingProvider;
}

export async function startFailures(): Promise<FailureFixture> {
  // the smallest bound of a message makes the oversize one cheap
  const bench = await MenuBench.start({ WARREN_MAX_MESSAGE_BYTES: '200000' });
  const remote = await startRefusingProvider();
  const http = { transport: 'http', baseUrl: remote.url };
  const over = { command: undefined, args: undefined, environmentVariables: undefined };
  await bench.connect('bad', { name: 'Misbehaving' });
  for (const [id, name] of [
    ['twin-1', 'Twin'],
    ['twin-2', 'TWIN'],
    ['off', 'Switched Off'],
    ['missing', 'Missing'],
    ['exits', 'Exits'],
    ['mute', 'Mute'],
  ]) {
    await bench.connect(String(id), { name });
  }
  await bench.connect('shared', { sessionScope: 'agent', maxSessions: 1 });
  await bench.connect('modern', { args: bench.launch('modern') });
  for (const id of ['remote', 'closed', 'private'])
    await bench.connect(id, { ...over, ...http, lifecycle: 'ephemeral' });
  const everywhere = ['off', 'missing', 'exits', 'mute', 'shared', 'twin-1', 'remote', 'closed', 'private'];
  const tools = ['typed', 'slow', 'exit-now', 'is-error', 'silent-error', 'rpc-error', 'needs-url', 'oversize'];
  await bench.agent('demo', [
    ...everywhere.map((id) => `${id}/ok`),
    ...[...tools, 'ok', 'not-a-result', 'server-asks', 'huge', 'echo-arguments'].map((tool) => `bad/${tool}`),
    'modern/needs-input',
    'modern/strange',
    'shared/slow',
  ]);
  await bench.agent('second', ['shared/ok']);
  await bench.change('off', { enabled: false });
  await bench.change('missing', { command: 'no-such-command' });
  await bench.change('exits', { args: bench.launch('exit') });
  await bench.change('mute', { args: bench.launch('mute'), connectTimeoutMs: 400 });
  await bench.change('closed', { baseUrl: await closedPort() });
  await bench.change('private', { baseUrl: 'http://10.1.2.3/mcp' });
  return { bench, remote };
}

/** The URL of a server that was there. */
async function closedPort(): Promise<string> {
  const server = await startRefusingProvider();
  await server.close();
  return server.url;
}

/** One way for a call to fail. */
export interface FailureRow {
  what: string;
  code: CallCode;
  ask: Record<string, unknown>;
  expect: Record<string, unknown>;
  before?: (fixture: FailureFixture) => unknown;
  after?: (fixture: FailureFixture) => unknown;
}

const row = (
  what: string,
  code: CallCode,
  ask: FailureRow['ask'],
  expected: FailureRow['expect'],
  more: Partial<FailureRow> = {},
): FailureRow => ({
  what,
  code,
  ask,
  expect: { sent: 'no', retryable: false, ...expected },
  ...more,
});
export const bad = (tool: string, given?: unknown): Record<string, unknown> => ({
  provider: 'bad',
  tool,
  ...(given === undefined ? {} : { arguments: given }),
});
const path = (name: string): unknown => expect.objectContaining({ path: name, message: expect.any(String) });
const refuse = (status: number, of: 'everything' | 'calls'): Partial<FailureRow> => ({
  before: ({ remote }) => remote.refuse({ status, of }),
  after: ({ remote }) => remote.refuse(undefined),
});

export const failureRows: readonly FailureRow[] = [
  row(
    'an unknown provider',
    'mcp_provider_not_available',
    { provider: 'twin-11', tool: 'ok' },
    { suggestions: ['twin-1'] },
  ),
  row(
    'a disabled provider',
    'mcp_provider_not_available',
    { provider: 'off', tool: 'ok' },
    {
      message: 'Switched Off is disabled.',
    },
  ),
  row(
    'an ambiguous name',
    'mcp_provider_ambiguous',
    { provider: 'twin', tool: 'ok' },
    {
      candidates: ['twin-1', 'twin-2'],
    },
  ),
  row('an unknown tool', 'mcp_tool_not_found', bad('Is_Error'), {
    suggestions: expect.arrayContaining(['is-error']),
  }),
  row('a tool in another case', 'mcp_tool_not_found', bad('OK'), { suggestions: ['ok'] }),
  row('a tool without a grant', 'mcp_tool_not_granted', bad('needs-input'), {
    hint: expect.stringContaining('tell the user'),
  }),
  row('missing arguments', 'mcp_arguments_invalid', bad('typed', {}), {
    errors: [path('arguments.city')],
    inputSchema: expect.objectContaining({ required: ['city'] }),
  }),
  row('wrong arguments', 'mcp_arguments_invalid', bad('typed', { city: 7, days: 0, more: true }), {
    errors: expect.arrayContaining(['city', 'days', 'more'].map((name) => path(`arguments.${name}`))),
    inputSchema: expect.objectContaining({ required: ['city'] }),
  }),
  row(
    'parameters beside arguments',
    'mcp_arguments_invalid',
    { ...bad('typed'), city: 'Rome', days: 2 },
    {
      errors: [path('city'), path('days')],
      inputSchema: expect.objectContaining({ required: ['city'] }),
    },
  ),
  row(
    'no tool',
    'mcp_arguments_invalid',
    { provider: 'bad', arguments: {} },
    {
      errors: [path('tool')],
      inputSchema: expect.objectContaining({ required: ['provider', 'tool'] }),
    },
  ),
  row('no provider', 'mcp_arguments_invalid', { tool: 'ok' }, { errors: [path('provider')] }),
  row('arguments that are no object', 'mcp_arguments_invalid', bad('typed', [1]), {
    errors: [path('arguments')],
  }),
  row('text that is no object', 'mcp_arguments_invalid', bad('typed', '{"city":'), {
    errors: [path('arguments')],
  }),
  row(
    'a command that is not there',
    'mcp_provider_unreachable',
    { provider: 'missing', tool: 'ok' },
    {
      retryable: false,
      reason: 'executable_not_found',
    },
  ),
  row(
    'a process that exits',
    'mcp_provider_unreachable',
    { provider: 'exits', tool: 'ok' },
    {
      retryable: true,
      reason: 'process_exited',
      message: expect.stringContaining('exit code 7'),
    },
  ),
  row(
    'a process that says nothing',
    'mcp_provider_unreachable',
    { provider: 'mute', tool: 'ok' },
    {
      retryable: true,
      reason: 'handshake_timeout',
    },
  ),
  row(
    'a closed port',
    'mcp_provider_unreachable',
    { provider: 'closed', tool: 'ok' },
    {
      retryable: true,
      reason: 'connection_refused',
    },
  ),
  row(
    'a private address',
    'mcp_provider_unreachable',
    { provider: 'private', tool: 'ok' },
    {
      retryable: false,
      reason: 'egress_denied',
    },
  ),
  row(
    'a failing server',
    'mcp_provider_unreachable',
    { provider: 'remote', tool: 'ok' },
    {
      retryable: true,
      reason: 'http_error',
    },
    refuse(500, 'everything'),
  ),
  row(
    'a server that fails at the call',
    'mcp_provider_unreachable',
    { provider: 'remote', tool: 'ok' },
    { sent: 'maybe', reason: 'http_error' },
    refuse(500, 'calls'),
  ),
  row(
    '401 at the handshake',
    'mcp_auth_required',
    { provider: 'remote', tool: 'ok' },
    {
      reason: 'auth_required',
    },
    refuse(401, 'everything'),
  ),
  row(
    '403 at the handshake',
    'mcp_auth_required',
    { provider: 'remote', tool: 'ok' },
    {
      reason: 'auth_forbidden',
    },
    refuse(403, 'everything'),
  ),
  row(
    '401 at the call',
    'mcp_auth_required',
    { provider: 'remote', tool: 'ok' },
    {
      sent: expect.anything(),
      reason: 'auth_required',
    },
    refuse(401, 'calls'),
  ),
  row(
    '403 at the call',
    'mcp_auth_required',
    { provider: 'remote', tool: 'ok' },
    {
      sent: expect.anything(),
      reason: 'auth_forbidden',
    },
    refuse(403, 'calls'),
  ),
  row(
    'no answer in time',
    'mcp_call_timeout',
    bad('slow'),
    { sent: 'maybe' },
    {
      before: ({ bench }) => bench.change('bad', { callTimeoutMs: 300 }),
      after: ({ bench }) => bench.change('bad', { callTimeoutMs: null }),
    },
  ),
  row('a process that exits in the call', 'mcp_call_interrupted', bad('exit-now'), { sent: 'maybe' }),
  row('a tool that says it failed', 'mcp_tool_failed', bad('is-error'), {
    sent: 'yes',
    message: 'The quota is used up.',
  }),
  row('a tool that fails without a word', 'mcp_tool_failed', bad('silent-error'), { sent: 'yes' }),
  row('a JSON-RPC error', 'mcp_tool_failed', bad('rpc-error'), {
    sent: 'yes',
    message: expect.stringContaining('There is no city of that name.'),
  }),
  row('a page to open first', 'mcp_input_required', bad('needs-url'), { sent: 'yes' }),
  row('a question to answer first', 'mcp_input_required', { provider: 'modern', tool: 'needs-input' }, { sent: 'yes' }),
  row('an oversize message', 'mcp_response_too_large', bad('oversize'), { sent: 'yes' }),
  row(
    'a kind of result that nobody knows',
    'mcp_protocol_error',
    { provider: 'modern', tool: 'strange' },
    { sent: expect.stringMatching(/^(yes|maybe)$/) },
  ),
];
