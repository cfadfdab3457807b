import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { Caller, PatientProvider, type ProviderKind } from './cancellation.bench.js';
import { startWarren, type TestWarren } from './support/warren.js';

const kinds: ProviderKind[] = [
  'stdio-legacy',
  'stdio-modern',
  'http-legacy-events',
  'http-modern-events',
  'sse-legacy',
];
const faces = ['overModernMcp', 'overLegacyMcp'] as const;
const SECRET = 'correct-horse-battery-staple';
/** Long enough for a call to be sent on a busy machine. */
const DEADLINE_MS = 2_000;
/** Of one flood, in one piece of output. */
const FLOOD_COUNT = 10_000;
const RELAYED_AT_MOST = 100;
const RELAYED_PER_SECOND = 20;
const floods = [
  // what the floods tell, kept, would be half as much again as the bound
  { kind: 'stdio-legacy', times: 6, size: 3_000, growthMiB: 120 },
  // too little to be told from what an event parser leaves to be collected
  { kind: 'http-modern-events', times: 2, size: 100, growthMiB: Infinity },
] as const;

let warren: TestWarren;
let agents = 0;
const providers = new Map<string, PatientProvider>();

beforeAll(async () => {
  warren = await startWarren({ environment: { WARREN_RATE_REQUESTS: '1000000', LOG_LEVEL: 'warn' } });
  for (const kind of kinds) {
    const secrets = kind.startsWith('stdio') ? {} : { headers: [{ name: 'x-secret', value: SECRET }] };
    providers.set(kind, await PatientProvider.connect(warren.api, kind, kind, secrets));
  }
});

afterAll(async () => {
  await warren.stop();
  for (const provider of providers.values()) await provider.stop();
});

function find(kind: ProviderKind): PatientProvider {
  const provider = providers.get(kind);
  if (provider === undefined) throw new Error(`no provider ${kind}`);
  return provider;
}

const createCaller = (provider: PatientProvider): Promise<Caller> =>
  Caller.create(warren.api, `agent-${(agents += 1)}`, [provider]);

const stepsOf = (messages: any[]): number[] =>
  messages.flatMap(({ method, params }) => (method === 'notifications/progress' ? [params.progress] : []));
const textOf = (answer: any): string => answer.result.content.at(-1).text;

let number = 0;
const next = (): number => (number += 1);

describe.each(kinds)('progress of a provider of kind %s', (kind) => {
  it.each(faces)('%s: comes with the token of its caller, in order, all of it, before the answer', async (face) => {
    const provider = find(kind);
    const [caller, neighbour] = [await createCaller(provider), await createCaller(provider)];
    const [mine, theirs] = [next(), next()];
    const both = [
      caller[face](provider, 'steps', { n: mine, count: 20 }, `token-of-${mine}`),
      neighbour[face](provider, 'steps', { n: theirs, count: 5 }, theirs),
    ];
    const [messages = [], others = []] = await Promise.all(both.map((call) => call.messages));
    expect(stepsOf(messages)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    for (const { params } of messages.slice(0, -1)) {
      expect(params).toMatchObject({ progressToken: `token-of-${mine}`, total: 100, message: 'step' });
    }
    expect(textOf(messages.at(-1))).toBe(`done ${mine}`);
    expect(stepsOf(others)).toEqual([1, 2, 3, 4, 5]);
    for (const { params } of others.slice(0, -1)) expect(params.progressToken).toBe(theirs);
    // the provider sees a token of ours
    const { token } = await provider.arrived(mine, 'steps');
    expect(token).toEqual(expect.any(Number));
  });

  it.each(faces)('%s: is not asked for when the caller does not', async (face) => {
    const provider = find(kind);
    const caller = await createCaller(provider);
    const n = next();
    const messages = await caller[face](provider, 'steps', { n, count: 5, token: 1 }).messages;
    expect(messages).toHaveLength(1);
    expect(textOf(messages[0])).toBe(`done ${n}`);
    expect(await provider.arrived(n, 'steps')).not.toHaveProperty('token');
  });

  it('ends with the answer, and knows no other token', async () => {
    const provider = find(kind);
    const caller = await createCaller(provider);
    const n = next();
    const args = { n, count: 3, behind: 50, token: 1_000_000 };
    const messages = await caller.overLegacyMcp(provider, 'steps', args, 't').messages;
    expect(textOf(messages.at(-1))).toBe(`done ${n}`);
    expect(stepsOf(messages).slice(0, 3)).toEqual([1, 2, 3]);
    expect(JSON.stringify(messages)).not.toContain('stray');
  });
});

describe('progress', () => {
  it('does not move the deadline of its call', async () => {
    await Promise.all(
      kinds.map(async (kind) => {
        const provider = find(kind);
        const caller = await createCaller(provider);
        await warren.api.expect(200, 'PATCH', `/api/connections/${kind}`, { callTimeoutMs: DEADLINE_MS });
        try {
          const messages = await caller.overLegacyMcp(provider, 'ticks', { n: next() }, 't').messages;
          expect(JSON.parse(messages.at(-1).result.content[0].text)).toMatchObject({ code: 'mcp_call_timeout' });
          expect(stepsOf(messages).length).toBeGreaterThan(0);
        } finally {
          await warren.api.expect(200, 'PATCH', `/api/connections/${kind}`, { callTimeoutMs: null });
        }
        expect((await caller.state(provider)).holding).toBe(0);
      }),
    );
  });

  it('shows no secret', async () => {
    const provider = find('http-legacy-events');
    const caller = await createCaller(provider);
    const args = { n: next(), count: 2, message: `key ${SECRET} ${Buffer.from(SECRET).toString('base64')}` };
    const messages = await caller.overModernMcp(provider, 'steps', args, 't').messages;
    expect(stepsOf(messages)).toEqual([1, 2]);
    const said = JSON.stringify(messages.slice(0, -1));
    expect(said).not.toContain(SECRET);
    expect(said).not.toContain(Buffer.from(SECRET).toString('base64').slice(4, -4));
  });

  it.each(floods)('is bounded in a flood: $kind', async ({ kind, times, size, growthMiB }) => {
    const provider = find(kind);
    const caller = await createCaller(provider);
    const flood = async (token: string | undefined) => {
      const began = performance.now();
      const args = { n: next(), count: FLOOD_COUNT, size };
      const messages = await caller.overLegacyMcp(provider, 'steps', args, token).messages;
      const took = performance.now() - began;
      expect(textOf(messages.at(-1))).toContain('done');
      const steps = stepsOf(messages);
      expect(steps.length).toBeLessThanOrEqual(RELAYED_AT_MOST + Math.ceil((took / 1_000) * RELAYED_PER_SECOND));
      expect(steps).toEqual(steps.toSorted((a, b) => a - b));
      return { took, relayed: steps.length };
    };
    const quiet = await flood(undefined);
    expect(quiet.relayed).toBe(0);
    // a client that reads gets the whole burst
    expect((await flood('t')).relayed).toBeGreaterThanOrEqual(RELAYED_AT_MOST);
    const before = await residentMiB();
    const took: number[] = [];
    for (let count = 0; count < times; count += 1) took.push((await flood('t')).took);
    const growth = (await residentMiB()) - before;
    process.stdout.write(
      `${kind}: ${FLOOD_COUNT} notifications of ${size} characters before an answer; it took ` +
        `${quiet.took.toFixed(0)} ms without, at most ${Math.max(...took).toFixed(0)} ms with them; ` +
        `memory after ${times}: ${growth >= 0 ? '+' : ''}${growth.toFixed(0)} MiB\n`,
    );
    expect(growth).toBeLessThan(growthMiB);
  });
});

async function residentMiB(): Promise<number> {
  const status = await readFile(`/proc/${warren.process.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024;
}
