import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  startJsonRpcServer,
  type JsonRpcReply,
  type JsonRpcRequest,
  type JsonRpcServer,
} from './support/json-rpc-server.js';
import { MenuBench } from './support/menu-bench.js';

/** Milliseconds; masking four million marks one by one takes several times as long. */
const PATIENCE_MS = 5_000;

const results: Record<string, () => unknown> = {
  zeros: () => ({ content: Array.from({ length: 4_000_000 }, () => 0) }),
  texts: () => ({ content: Array.from({ length: 200_000 }, (_, index) => ({ type: 'text', text: `${index % 10}` })) }),
};

let provider: JsonRpcServer;
let bench: MenuBench;

function answer({ method, params }: JsonRpcRequest): JsonRpcReply {
  switch (method) {
    case 'initialize': {
      const { protocolVersion } = params ?? {};
      const serverInfo = { name: 'large', version: '1.0.0' };
      return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo } };
    }
    case 'tools/list':
      return { result: { tools: Object.keys(results).map((name) => ({ name, inputSchema: { type: 'object' } })) } };
    case 'tools/call':
      return { result: results[String(params?.['name'])]?.() };
    default:
      return { error: { code: -32_601, message: 'no such method' } };
  }
}

beforeAll(async () => {
  provider = await startJsonRpcServer(answer);
  bench = await MenuBench.start();
  const body = { id: 'web', name: 'web', transport: 'http', lifecycle: 'keep_alive', baseUrl: provider.url };
  await bench.api.expect(201, 'POST', '/api/connections?discover=true', body);
  await bench.agent('agent', ['web/zeros', 'web/texts']);
});

afterAll(async () => {
  await bench.stop();
  await provider.stop();
});

/** The longest that anybody else waited for an answer while `work` went on, in milliseconds. */
async function longestWait(work: Promise<unknown>): Promise<number> {
  const ended = new AbortController();
  const watched = work.finally(() => ended.abort());
  let longest = 0;
  while (!ended.signal.aborted) {
    const asked = performance.now();
    expect(await bench.api.get('/health/live')).toMatchObject({ status: 200 });
    longest = Math.max(longest, performance.now() - asked);
  }
  await watched;
  return longest;
}

it('serves others while a result of four million entries that are no blocks is read', async () => {
  const call = bench.call('agent', { provider: 'web', tool: 'zeros' });
  expect(await longestWait(call)).toBeLessThan(PATIENCE_MS);
  expect(await call).toMatchObject({
    ok: true,
    content: [{ type: 'text', text: '[4000000 content blocks without a type were left out]' }],
  });
});

it('keeps head and tail of too many blocks, and says so in the text and in the receipt', async () => {
  const receipt = await bench.call('agent', { provider: 'web', tool: 'texts' });
  const texts = receipt.content.map(({ text }) => text);
  expect(texts).toHaveLength(1_001);
  expect([texts[0], texts[749], texts[751], texts.at(-1)]).toEqual(['0', '9', '0', '9']);
  expect(texts[750]).toMatch(/^\[… 199000 of 200000 content blocks left out\. Ask for less/);
  expect(receipt.truncated).toEqual({ originalChars: 200_000, keptChars: 1_000, contentBlocksDropped: 199_000 });
  const { items } = await bench.api.expect(200, 'GET', '/api/calls?limit=1');
  expect(items).toMatchObject([{ callId: receipt.callId, truncated: true }]);
});
