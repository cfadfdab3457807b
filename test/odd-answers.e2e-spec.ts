import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resolve } from 'node:path';
import { MenuBench } from './support/menu-bench.js';
import { eventually } from './support/eventually.js';
import { type Acceptance, type AnswerShape, VerbatimProvider } from './support/verbatim-provider.js';

const RESULT = '{"content":[{"type":"text","text":"fine"}],"structuredContent":{"kept":null}}';
const ERROR = '{"code":-32000,"message":"my error","data":null}';

// what the tool itself said is left as it is
const OK = { ok: true, content: [{ text: 'fine' }], structuredContent: { kept: null } };

const told: [name: string, raw: string, receipt: object][] = [
  ['error: null', `{"jsonrpc":"2.0","id":ID,"result":${RESULT},"error":null}`, OK],
  ['method: null', `{"jsonrpc":"2.0","id":ID,"method":null,"result":${RESULT}}`, OK],
  ['params: null', `{"jsonrpc":"2.0","id":ID,"params":null,"result":${RESULT}}`, OK],
  ['a member of its own', `{"jsonrpc":"2.0","id":ID,"result":${RESULT},"server":"x"}`, OK],
  ['result: null', `{"jsonrpc":"2.0","id":ID,"error":${ERROR},"result":null}`, { error: { code: 'mcp_tool_failed' } }],
];
const malformed: [name: string, raw: string][] = [
  ['an error in words', '{"jsonrpc":"2.0","id":ID,"error":"my error"}'],
  ['an error code in words', '{"jsonrpc":"2.0","id":ID,"error":{"code":"E1","message":"my error"}}'],
  ['no version', `{"id":ID,"result":${RESULT}}`],
  ['meta data in words', '{"jsonrpc":"2.0","id":ID,"result":{"content":[],"_meta":"x"}}'],
];

describe('an answer that is not quite of the protocol', () => {
  let bench: MenuBench;
  const providers: VerbatimProvider[] = [];

  beforeAll(async () => {
    bench = await MenuBench.start();
    const stdio = { args: [resolve('test/providers/verbatim-provider.mjs')], environmentVariables: [] };
    await bench.connect('stdio', { ...stdio, callTimeoutMs: 10_000 });
    for (const shape of ['json', 'events', 'common-stream'] satisfies AnswerShape[]) {
      await connect(shape, new VerbatimProvider(shape));
    }
    await bench.agent('demo', ['stdio/say', 'json/say', 'events/say', 'common-stream/say']);
  });

  afterAll(async () => {
    await bench.stop();
    for (const provider of providers) provider.stop();
  });

  async function connect(id: string, provider: VerbatimProvider): Promise<void> {
    providers.push(provider);
    const http = { transport: 'http', command: undefined, args: undefined, environmentVariables: undefined };
    await bench.connect(id, {
      ...http,
      baseUrl: await provider.start(),
      callTimeoutMs: 10_000,
      connectTimeoutMs: 10_000,
    });
  }

  const say = (provider: string, args: object) => bench.call('demo', { provider, tool: 'say', arguments: args });
  const notOfProtocol = { ok: false, error: { code: 'mcp_protocol_error', sent: 'yes' } };

  describe.each(['stdio', 'json', 'events', 'common-stream'])('by %s', (provider) => {
    it.each(told)('is read where it has one meaning: %s', async (_, raw, receipt) => {
      expect(await say(provider, { raw })).toMatchObject(receipt);
    });

    it.each(malformed)('fails its call at once where it has none: %s', async (_, raw) => {
      expect(await say(provider, { raw })).toMatchObject(notOfProtocol);
    });
  });

  it.each(['{"error":"Session not found"}', `{"jsonrpc":"2.0","id":null,"error":${ERROR}}`])(
    'fails the call whose own stream it comes on: %s',
    async (raw) => {
      expect(await say('events', { raw })).toMatchObject(notOfProtocol);
    },
  );

  const answer = `{"jsonrpc":"2.0","id":ID,"result":${RESULT}}`;
  it.each(['ping', '{}', '{"type":"ping"}', 'null', 'true', '1764543600', ' ', '[DONE]', '[]'])(
    'is none where it only keeps the stream of its call alive: %s',
    async (alive) => {
      const raw = `${alive}\n\nevent: message\ndata: ${alive}\n\ndata: ${answer}`;
      expect(await say('events', { raw })).toMatchObject(OK);
    },
  );

  it('fails its call at once when it is none and the stream ends', async () => {
    const receipt = await say('events', { raw: 'Session not found', ends: true });
    expect(receipt).toMatchObject({ ok: false, error: { sent: 'maybe' } });
    expect(receipt.error?.message).not.toContain('within');
  });

  it.each<Acceptance>([
    { status: 200, type: 'text/event-stream' },
    { status: 200, type: 'text/plain' },
    { status: 202, type: 'application/json' },
    { status: 202, type: 'text/event-stream' },
  ])('to no request is not waited for, nor kept open: $status $type', async (acceptance) => {
    const id = `accepts-${acceptance.status}-${acceptance.type.replace('/', '-')}`;
    const provider = new VerbatimProvider('json', acceptance);
    await connect(id, provider);
    await bench.agent(id, [`${id}/say`]);
    expect(await bench.call(id, { provider: id, tool: 'say', arguments: { raw: answer } })).toMatchObject(OK);
    await eventually(() => expect(provider.accepting.size).toBe(0), 10_000);
  });

  it.each([200, 202, 204])('fails the call when it is empty: HTTP %d', async (status) => {
    const receipt = await say('json', { raw: '', status });
    expect(receipt).toMatchObject(notOfProtocol);
    expect(receipt.error?.message).toContain('The body of its answer is empty');
  });
});
