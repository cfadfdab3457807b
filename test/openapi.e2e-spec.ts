import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resolve } from 'node:path';
import { Api, type ApiAnswer } from './support/api.js';
import { DocumentedAnswers } from './support/documented-answers.js';
import { operationsOf, structureProblems, type Part } from './support/openapi-document.js';
import { rawRequest } from './support/raw-request.js';
import { startWarren, type TestWarren } from './support/warren.js';

const PROVIDER = [resolve('test/providers/catalog-provider.mjs'), resolve('test/data/catalogs/server-memory.json')];

let warren: TestWarren;
let document: Part;
let answers: DocumentedAnswers;

beforeAll(async () => {
  warren = await startWarren();
  document = (await warren.api.as(undefined).get<Part>('/openapi.json')).body;
  answers = new DocumentedAnswers(document);
});

afterAll(async () => {
  await warren.stop();
});

describe('/openapi.json', () => {
  it('is an OpenAPI 3.1 document in which nothing is missing', () => {
    expect(structureProblems(document)).toEqual([]);
    expect(operationsOf(document).length).toBeGreaterThan(30);
  });

  it('holds schemas that a strict JSON Schema 2020-12 validator takes', () => {
    expect(answers.schemaProblems(document)).toEqual([]);
  });

  it('documents every error that any request can meet', () => {
    for (const { name, path, part } of operationsOf(document)) {
      if (path.startsWith('/health/') || path.startsWith('/.well-known/')) continue;
      const statuses = Object.keys(part['responses'] as Part);
      const everywhere = ['400', '401', '403', '429', '500', '503'];
      const withBody = part['requestBody'] === undefined ? [] : ['413', '415'];
      const missing = [...everywhere, ...withBody].filter((status) => !statuses.includes(status));
      expect([name, missing]).toEqual([name, []]);
    }
  });

  it('says which token opens an operation', () => {
    const schemesOf = (access: string): unknown[] =>
      operationsOf(document)
        .filter(({ part }) => part['x-warren-access'] === access)
        .map(({ part }) => part['security']);
    expect(new Set(schemesOf('public').map((scheme) => JSON.stringify(scheme)))).toEqual(new Set(['[]']));
    expect(new Set(schemesOf('read').map((scheme) => JSON.stringify(scheme)))).toEqual(
      new Set(['[{"operatorKey":[]}]']),
    );
    for (const scheme of schemesOf('agent')) {
      expect(scheme).toEqual(expect.arrayContaining([{ operatorKey: [] }, { agentToken: [] }]));
    }
    for (const scheme of schemesOf('mcp')) expect(scheme).toEqual([{ agentToken: [] }]);
  });

  it('marks what is write-only, and answers nothing of it', () => {
    const schemas = (document['components'] as { schemas: Record<string, Part> }).schemas;
    const create = JSON.stringify(schemas['CreateConnectionBody']);
    expect(create.match(/"writeOnly":true/g)?.length).toBeGreaterThanOrEqual(2);
    const leaking = Object.entries(schemas).filter(
      ([name, schema]) => name.endsWith('Answer') && JSON.stringify(schema).includes('writeOnly'),
    );
    expect(leaking).toEqual([]);
  });

  it('is checked by a checker that finds faults', () => {
    const broken = structuredClone(document) as {
      openapi: string;
      paths: Record<string, Record<string, Part>>;
      components: { schemas: Record<string, Part> };
    };
    const read = broken.paths['/api/agents']?.['get'];
    if (read === undefined) throw new Error('GET /api/agents is not documented');
    broken.openapi = '3.0.0';
    read['operationId'] = 'Agents_create';
    read['summary'] = '';
    delete read['security'];
    read['responses'] = { 200: { description: 'Success', content: { 'application/json': {} } } };
    broken.components.schemas['Broken'] = { $ref: '#/components/schemas/Nothing', nullable: true, type: 'strange' };
    expect(structureProblems(broken as unknown as Part).toSorted()).toEqual(
      [
        'openapi is not 3.1',
        'operationId twice: Agents_create',
        'GET /api/agents: no summary',
        'GET /api/agents: no security',
        'GET /api/agents: 200 has no schema',
        '#/components/schemas/Broken: #/components/schemas/Nothing leads nowhere',
        '#/components/schemas/Broken: nullable is not of OpenAPI 3.1',
      ].toSorted(),
    );
    expect(answers.schemaProblems(broken as unknown as Part)).toEqual([expect.stringContaining('Broken: ')]);
  });
});

describe('real answers', () => {
  /** Sends a request and compares the answer with its documentation. */
  async function checked(api: Api, method: string, path: string, body?: unknown, headers = {}): Promise<ApiAnswer> {
    const answer = await api.send(method, path, body, headers);
    expect([method, path, answers.differences(method, path, answer)]).toEqual([method, path, []]);
    return answer;
  }

  it('have their documented form, member by member', async () => {
    const { api } = warren;
    const stdio = {
      id: 'memory',
      name: 'Memory',
      transport: 'stdio',
      command: process.execPath,
      args: [...PROVIDER, { secret: 'flag', value: 'a-secret-argument' }],
      environmentVariables: [{ name: 'SHORT', value: 'x' }],
      lifecycle: 'keep_alive',
    };
    const http = {
      id: 'remote',
      name: 'Remote',
      transport: 'http',
      baseUrl: 'http://127.0.0.1:9/mcp',
      apiKey: 'a-key-of-some-length',
      headers: [{ name: 'X-Key', value: '${EXPANDED}' }],
      queryParameters: [{ name: 'q', value: 'secret-query' }],
      callTimeoutMs: 5_000,
      allowTools: ['a'],
    };
    await checked(api, 'POST', '/api/connections?discover=true', stdio);
    await checked(api, 'POST', '/api/connections?discover=true', http);
    for (const path of ['/api/connections', '/api/connections?limit=1', '/api/connections/memory']) {
      await checked(api, 'GET', path);
    }
    for (const path of ['/api/connections/export', '/api/connections/memory/tools', '/api/connections/memory/events']) {
      await checked(api, 'GET', path);
    }
    await checked(api, 'POST', '/api/connections/discover', {});
    await checked(api, 'POST', '/api/connections/memory/discover');
    await checked(api, 'POST', '/api/connections/memory/start');
    await checked(api, 'PATCH', '/api/connections/memory', { callTimeoutMs: 6_000 }, { 'if-match': '*' });

    await checked(api, 'POST', '/api/agents', { id: 'demo', name: 'Demo' });
    await checked(api, 'PATCH', '/api/agents/demo', { visibility: null });
    await checked(api, 'GET', '/api/agents');
    await checked(api, 'GET', '/api/agents/demo');
    const token = await checked(api, 'POST', '/api/agents/demo/tokens', { name: 'first' });
    await checked(api, 'GET', '/api/agents/demo/tokens');
    const tools = [{ connectionId: 'memory', toolName: 'read_graph' }];
    await checked(api, 'PUT', '/api/agents/demo/mcp-tools', { tools });
    await checked(api, 'PATCH', '/api/agents/demo/mcp-tools', { add: tools });
    await checked(api, 'GET', '/api/agents/demo/mcp-tools');
    await checked(api, 'POST', '/api/grants/apply', { agentIds: ['demo'], add: tools });
    await checked(api, 'GET', '/api/grants?agentId=demo');

    const agent = api.as(token.body.token);
    const menu = '/api/agents/demo/menu';
    await checked(agent, 'POST', `${menu}/mcp_providers`, {});
    await checked(agent, 'POST', `${menu}/mcp_providers`, { cursor: 'none of ours' });
    await checked(agent, 'POST', `${menu}/mcp_capabilities`, { query: 'read the graph' });
    await checked(agent, 'POST', `${menu}/mcp_capabilities`, { query: 'zzzz' });
    await checked(agent, 'POST', `${menu}/mcp_capabilities`, { provider: 'memory', limit: 'many' });
    const call = await checked(agent, 'POST', `${menu}/mcp_call`, { provider: 'memory', tool: 'read_graph' });
    expect(call.body.ok).toBe(true);
    await checked(agent, 'POST', `${menu}/mcp_call`, { provider: 'memory', tool: 'read_graf', x: 1 });
    const refused = await checked(agent, 'POST', `${menu}/mcp_call`, { provider: 'nobody', tool: 'nothing' });
    for (const { callId } of [call.body, refused.body]) await checked(api, 'GET', `/api/calls/${callId}`);
    await checked(api, 'GET', '/api/calls');

    const key = await checked(api, 'POST', '/api/keys', { name: 'reader', scopes: ['read'], expiresAt: null });
    await checked(api, 'GET', '/api/keys');
    await checked(api, 'DELETE', `/api/keys/${key.body.id}`);
    await checked(api, 'DELETE', `/api/agents/demo/tokens/${token.body.id}`);
    await checked(api, 'DELETE', '/api/connections/remote');
    await checked(api, 'POST', '/api/connections/memory/stop');
    for (const path of ['/health/live', '/health/ready']) await checked(api.as(undefined), 'GET', path);
  });

  it('are documented problems where something is wrong', async () => {
    const { api } = warren;
    const taken = { id: 'taken', name: 'Taken', transport: 'http', baseUrl: 'http://127.0.0.1:9/' };
    await api.expect(201, 'POST', '/api/connections', taken);
    await api.expect(201, 'POST', '/api/agents', { id: 'taken', name: 'Taken' });
    const cases: [string, string, unknown, number][] = [
      ['POST', '/api/connections', {}, 400],
      ['POST', '/api/connections', { name: 'x', transport: 'http', baseUrl: 'http://x/', nonsense: 1 }, 400],
      ['POST', '/api/connections', { ...taken, name: 'Another' }, 409],
      ['PATCH', '/api/connections/taken', { transport: 'stdio' }, 422],
      ['GET', '/api/connections/nothing', undefined, 404],
      ['POST', '/api/connections/nothing/discover', undefined, 404],
      ['GET', '/api/agents?limit=0', undefined, 400],
      ['GET', '/api/calls?cursor=none', undefined, 400],
      ['PUT', '/api/agents/taken/mcp-tools', { tools: [{ connectionId: 'nothing', toolName: 'x' }] }, 422],
      ['POST', '/api/agents/nothing/menu/mcp_call', {}, 404],
      ['POST', '/api/agents', { id: 'taken', name: 'Taken' }, 409],
    ];
    for (const [method, path, body, status] of cases) {
      expect([path, (await checked(api, method, path, body)).status]).toEqual([path, status]);
    }
    expect((await checked(api, 'PATCH', '/api/connections/taken', {}, { 'if-match': '"99"' })).status).toBe(412);
    expect((await checked(api.as(undefined), 'GET', '/api/agents')).status).toBe(401);
    const { key } = await api.expect(201, 'POST', '/api/keys', { name: 'reader', scopes: ['read'] });
    expect((await checked(api.as(key), 'DELETE', '/api/agents/taken')).status).toBe(403);
    // refused by what it announces; a client that goes on writing may miss the answer
    const announced = { authorization: `Bearer ${warren.adminKey}`, 'content-length': '50000000' };
    const headers = { ...announced, 'content-type': 'application/json' };
    const large = await rawRequest(warren.url, 'POST', '/api/agents', headers, '{');
    expect(large.status).toBe(413);
    const answer = {
      ...large,
      headers: new Headers({ 'content-type': large.contentType }),
      body: JSON.parse(large.text),
    };
    expect(answers.differences('POST', '/api/agents', answer)).toEqual([]);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'x/y']) {
      const { status } = await checked(api, 'POST', '/api/agents', {}, { 'content-type': type });
      expect([type, status]).toEqual([type, 415]);
    }
  });
});

describe('/docs', () => {
  it.each(['/docs', '/docs/'])('serves %s with all it needs from this server', async (page) => {
    const html = await rawRequest(warren.url, 'GET', page);
    expect([html.status, html.contentType]).toEqual([200, expect.stringMatching(/^text\/html/)]);
    const links = [...html.text.matchAll(/\s(?:src|href)="([^"#]+)"/g)].map(([, link]) => String(link));
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) {
      const url = new URL(link, warren.url + page);
      expect([link, url.origin]).toEqual([link, new URL(warren.url).origin]);
      const { status, text } = await rawRequest(warren.url, 'GET', url.pathname);
      expect([link, status, text.length > 100]).toEqual([link, 200, true]);
    }
  });

  it('asks no other host for anything', async () => {
    const { text } = await rawRequest(warren.url, 'GET', '/docs');
    const { text: settings } = await rawRequest(warren.url, 'GET', '/docs/swagger-ui-init.js');
    // names of XML vocabularies are no addresses
    const addresses = `${text}\n${settings}`.matchAll(/(?:https?:)?\/\/([a-z0-9-]+(?:\.[a-z0-9-]+)+)/gi);
    const hosts = new Set([...addresses].map(([, host]) => host));
    expect([...hosts].filter((host) => host !== 'www.w3.org' && host !== 'www.apache.org')).toEqual([]);
  });
});
