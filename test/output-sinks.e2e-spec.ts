import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createToken } from '../src/token.js';
import { canary } from './canary/canary.js';
import { readDatabase } from './canary/database-contents.js';
import { findCanaries, spellingsOf } from './canary/search.mjs';
import { ownSecretsBehind } from './canary/own-secrets.js';
import { sayings } from './providers/telltale-sayings.mjs';
import { eventually } from './support/eventually.js';
import { type JsonRpcServer, startJsonRpcServer } from './support/json-rpc-server.js';
import { OUTPUT_PLACES, type OutputSink } from './support/output-places.js';
import { rawRequest } from './support/raw-request.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';
import { WarrenCommand } from './support/warren-command.js';
import { startWarren, TEST_KEYRING, type TestWarren } from './support/warren.js';

/** One of each kind of secret that a connection keeps, with what encoders change in it. */
const odd = (value: string): string => `${value} "q" /a+b\\c%20é`;
const secrets = {
  apiKey: canary('api-key'),
  header: canary('header', (value) => `${value} "q"/+=`),
  queryParameter: canary('query', odd),
  environment: canary('environment', (value) => `${odd(value)}\n${odd(value)} on a second line`),
  argument: canary('argument', odd),
};
const overHttp = [secrets.apiKey, secrets.header, secrets.queryParameter];
const adminKey = createToken('operator').token;
const databasePassword = `db-${randomBytes(12).toString('base64')}`;

let database: TestDatabase;
let warren: TestWarren;
let provider: JsonRpcServer;
let token: string;
let own: Record<string, string>;
const dataDirectory = mkdtempSync(join(tmpdir(), 'warren-sinks-'));

beforeAll(async () => {
  database = await createTestDatabase();
  const url = new URL(database.connectionString);
  url.password = encodeURIComponent(databasePassword);
  warren = await startWarren({
    database: { ...database, connectionString: url.href },
    adminKey,
    environment: { LOG_LEVEL: 'debug', WARREN_DATA_DIR: dataDirectory, WARREN_PREVIEW_CHARS: '10000' },
  });
  const { answer } = sayings(overHttp);
  provider = await startJsonRpcServer((request) => (answer(request).at(-1) ?? { result: {} }) as { result: unknown });
  const { api } = warren;
  await api.expect(201, 'POST', '/api/connections?discover=true', {
    id: 'http',
    name: 'http',
    transport: 'http',
    baseUrl: provider.url,
    apiKey: secrets.apiKey,
    headers: [{ name: 'x-key', value: secrets.header }],
    queryParameters: [{ name: 'key', value: secrets.queryParameter }],
  });
  for (const [id, failing, lifecycle] of STDIO) {
    await api.expect(201, 'POST', '/api/connections?discover=true', {
      id,
      name: id,
      transport: 'stdio',
      command: process.execPath,
      lifecycle,
      args: [resolve('test/providers/telltale-provider.mjs'), { secret: 'licence', value: secrets.argument }],
      environmentVariables: [
        { name: 'TELL_KEY', value: secrets.environment },
        { name: 'FAILING', value: failing },
      ],
    });
  }
  await api.expect(201, 'POST', '/api/agents', { id: 'agent', name: 'agent' });
  ({ token } = await api.expect(201, 'POST', '/api/agents/agent/tokens', {}));
  const add = ['http', 'stdio'].flatMap((connectionId) => TOOLS.map((toolName) => ({ connectionId, toolName })));
  await api.expect(200, 'PATCH', '/api/agents/agent/mcp-tools', { add });
  own = { ...(await ownSecretsBehind(database, TEST_KEYRING)), adminKey, databasePassword, databaseUrl: url.href };
});

afterAll(async () => {
  await warren?.stop();
  await provider?.stop();
  await database?.drop();
  rmSync(dataDirectory, { recursive: true, force: true });
});

const STDIO = [
  ['stdio', '', 'keep_alive'],
  ['broken', 'start', 'keep_alive'],
] as const;
const TOOLS = ['ok', 'fail', 'refuse', 'echo'];

/** What agents make Warren repeat: each of Warren's own secrets, and the token they hold. */
const dictated = (): Record<string, string> => ({ ...own, token });
const text = (answer: { body: unknown; headers: Headers }): string =>
  JSON.stringify(answer.body) + JSON.stringify([...answer.headers]);

/** All calls, one after the other, in one form of answer. */
async function overMcp(accept: string, methods: (name: string) => Record<string, unknown>): Promise<string> {
  const answers: string[] = [];
  for (const name of ['http', 'stdio'].flatMap((id) => TOOLS.map((tool) => `${id}/${tool}`))) {
    const response = await fetch(`${warren.url}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...methods(name) }),
    });
    answers.push(await response.text());
  }
  return answers.join('\n');
}

const callOf = (name: string, more: object = {}): Record<string, unknown> => {
  const [id = '', tool = ''] = name.split('/');
  const args = { provider: id, tool, arguments: dictated() };
  return { method: 'tools/call', params: { name: 'mcp_call', arguments: args, ...more } };
};

/** What comes out of each sink once it was given every secret. */
const SINKS: Record<OutputSink, () => Promise<string>> = {
  'REST answers': async () => {
    const { api } = warren;
    const paths = ['http', 'stdio', 'broken'].flatMap((id) =>
      ['', '/tools', '/events'].map((path) => `/api/connections/${id}${path}`),
    );
    const lists = [
      '/api/connections',
      '/api/connections/export',
      '/api/calls',
      '/api/agents',
      '/api/grants',
      '/api/audit',
      '/metrics',
    ];
    const answers = await Promise.all([
      ...paths.map((path) => api.get(path)),
      ...lists.map((path) => rawText(path)),
      api.post('/api/connections/http/discover'),
      api.post('/api/connections/discover', {}),
      api.post('/api/connections/stdio/start'),
    ]);
    // an answer repeats what was saved, but no secret of Warren's own
    for (const secret of Object.values(own)) {
      answers.push(
        await api.post('/api/agents', { id: 'named', name: secret.slice(0, 120) }),
        await api.get('/api/agents'),
      );
      await api.expect(204, 'DELETE', '/api/agents/named');
    }
    return answers.map((answer) => (typeof answer === 'string' ? answer : text(answer))).join('\n');
  },
  'REST menu': async () => {
    const agent = warren.api.as(token);
    const menu = '/api/agents/agent/menu/';
    const answers = [];
    for (const name of ['http', 'stdio'].flatMap((id) => TOOLS.map((tool) => `${id}/${tool}`))) {
      const { params } = callOf(name) as { params: { arguments: unknown } };
      answers.push(await agent.post(`${menu}mcp_call`, params.arguments));
    }
    answers.push(
      await agent.post(`${menu}mcp_capabilities`, { query: 'ok' }),
      await agent.post(`${menu}mcp_providers`),
    );
    for (const secret of Object.values(dictated())) {
      answers.push(await agent.post(`${menu}mcp_call`, { provider: secret, tool: secret, arguments: {} }));
      answers.push(await agent.post(`${menu}mcp_capabilities`, { provider: secret }));
      answers.push(await agent.post(`${menu}mcp_call`, { provider: 'stdio', tool: secret, arguments: {} }));
    }
    return answers.map(text).join('\n');
  },
  'REST problems': async () => {
    const { api } = warren;
    const answers = [
      await api.post('/api/connections/broken/discover'),
      await api.post('/api/connections/broken/start'),
    ];
    for (const secret of Object.values(own)) {
      answers.push(await api.get(`/api/connections/${encodeURIComponent(secret)}`));
      answers.push(await api.get(`/api/connections?${String(new URLSearchParams({ [secret]: secret }))}`));
      answers.push(await api.post('/api/connections', { [secret]: secret, name: 'x', transport: secret }));
      answers.push(
        await api.put('/api/agents/agent/mcp-tools', { tools: [{ connectionId: 'http', toolName: secret }] }),
      );
    }
    return answers.map(text).join('\n');
  },
  'unreadable requests': async () => {
    const authorization = `Bearer ${adminKey}`;
    const answers = await Promise.all(
      Object.values(own).map((secret) =>
        rawRequest(warren.url, 'GET', `/api/%zz${encodeURIComponent(secret)}`, { authorization }),
      ),
    );
    return JSON.stringify(answers);
  },
  'MCP results': () => overMcp('application/json', callOf),
  'MCP event streams': () =>
    overMcp('text/event-stream', (name) => callOf(name, { _meta: { progressToken: `p-${adminKey}` } })),
  'MCP errors': async () => {
    const unknown = await overMcp('application/json', () => ({
      method: 'tools/call',
      params: { name: JSON.stringify(dictated()), arguments: {} },
    }));
    const unheard = await overMcp('application/json', () => ({ id: adminKey, method: token, params: {} }));
    return unknown + unheard;
  },
  log: async () => {
    await eventually(() => expect(warren.log()).toContain('"level":"debug"'));
    return warren.log();
  },
  'command line': async () => {
    const url = new URL(String(own['databaseUrl']));
    url.port = '1';
    url.host = '127.0.0.1:1';
    const environment = { DATABASE_URL: url.href, WARREN_SECRET_KEYS: TEST_KEYRING, WARREN_ADMIN_KEY: adminKey };
    const commands = [
      new WarrenCommand(['migrate'], { environment }),
      new WarrenCommand(['config'], { environment }),
      new WarrenCommand(['config'], {
        environment: { ...environment, WARREN_ADMIN_KEY: `${adminKey}x`, WARREN_NEW: adminKey },
      }),
    ];
    await Promise.all(commands.map(({ ended }) => ended));
    return commands.map(({ output, errors }) => output + errors).join('\n');
  },
  database: async () => {
    const { text: rows, tables } = await readDatabase(database.connectionString);
    expect(tables).toBeGreaterThan(8);
    return rows;
  },
  'data directory': async () => {
    const files = readdirSync(dataDirectory, { recursive: true, encoding: 'utf8' }).map((name) =>
      join(dataDirectory, name),
    );
    const regular = files.filter((file) => statSync(file).isFile());
    return regular.map((file) => readFileSync(file, 'latin1')).join('\n');
  },
};

async function rawText(path: string): Promise<string> {
  return (await rawRequest(warren.url, 'GET', path, { authorization: `Bearer ${adminKey}` })).text;
}

/** Sinks that are only told what was masked before, or nothing at all; from the others a mark must come. */
const QUIET: ReadonlySet<OutputSink> = new Set(['unreadable requests', 'command line', 'data directory']);

describe('what leaves Warren', () => {
  it.each(Object.entries(SINKS))('holds no form of any secret: %s', async (sink, probe) => {
    const written = Buffer.from(await probe());
    const isMarked = QUIET.has(sink as OutputSink) || written.includes('[redacted]');
    expect({ sink, isMarked }).toEqual({ sink, isMarked: true });
    for (const [name, secret] of Object.entries({ ...secrets, ...dictated() })) {
      const hits = findCanaries(written, spellingsOf(secret));
      expect({ sink, name, hits }).toEqual({ sink, name, hits: [] });
    }
    expect(findCanaries(written)).toEqual([]);
  });

  it('leaves by these sinks and by no other', () => {
    const proven = new Set(OUTPUT_PLACES.flatMap(({ sinks }) => sinks));
    expect([...proven].toSorted()).toEqual(Object.keys(SINKS).toSorted());
  });
});
