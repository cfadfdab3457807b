import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Caller, PatientProvider, providerKinds, type ProviderKind } from './cancellation.bench.js';
import { eventually } from './support/eventually.js';
import { providersOf } from './support/processes.js';
import { startWarren, type TestWarren } from './support/warren.js';

/** How a call is begun and cancelled: over `/mcp` in both eras, and over REST. */
const faces = ['overModernMcp', 'overLegacyMcp', 'overNotifiedMcp', 'overRest'] as const;
const kinds = Object.keys(providerKinds) as ProviderKind[];
const eventKinds = kinds.filter((kind) => !kind.endsWith('-json'));
/** Every way to cancel at every kind of provider, but one at those that only answer in another form. */
const table = kinds.flatMap((kind) =>
  (eventKinds.includes(kind) ? faces : (['overNotifiedMcp'] as const)).map((face) => ({ kind, face })),
);
const WIDE_MS = 20_000;
/** Long enough for a call to be sent on a busy machine. */
const DEADLINE_MS = 2_000;

let warren: TestWarren;
const lasting = new Map<ProviderKind, PatientProvider>();
const once = new Map<ProviderKind, PatientProvider>();
let agents = 0;

beforeAll(async () => {
  warren = await startWarren({ environment: { WARREN_RATE_REQUESTS: '1000000', LOG_LEVEL: 'warn' } });
  for (const kind of kinds) lasting.set(kind, await PatientProvider.connect(warren.api, kind, kind));
  for (const kind of eventKinds) {
    const provider = await PatientProvider.connect(warren.api, `${kind}-once`, kind, { lifecycle: 'ephemeral' });
    once.set(kind, provider);
  }
});

afterAll(async () => {
  await warren.stop();
  for (const provider of [...lasting.values(), ...once.values()]) await provider.stop();
});

const createCaller = (...providers: PatientProvider[]): Promise<Caller> =>
  Caller.create(warren.api, `agent-${(agents += 1)}`, providers);

/** Numbers the calls of this file. */
let number = 0;
const next = (): number => (number += 1);

function found(providers: Map<ProviderKind, PatientProvider>, kind: ProviderKind): PatientProvider {
  const provider = providers.get(kind);
  if (provider === undefined) throw new Error(`no provider ${kind}`);
  return provider;
}

/** Waits until the provider heard of the end of a call, by the id it got: the notification first, then its exchange. */
async function whenTold(provider: PatientProvider, n: number): Promise<void> {
  const { id } = await provider.arrived(n);
  const isHttp = provider.kind.startsWith('http');
  const told = [{ event: 'cancelled', requestId: id }];
  const closed = [{ event: 'closed', id }];
  const expected = [...(provider.kind.startsWith('http-modern') ? [] : told), ...(isHttp ? closed : [])];
  await eventually(async () => {
    const events = (await provider.events()).filter((entry) => entry.n === n);
    expect(events).toMatchObject([{ event: 'call', id }, ...expected]);
  }, WIDE_MS);
}

/** Waits until the session of a call is gone, where the provider sees that; errors when it went before it was told. */
async function whenEnded(provider: PatientProvider, n: number): Promise<void> {
  const { pid } = await provider.arrived(n);
  await eventually(async () => {
    const events = await provider.events();
    const told = events.findIndex((entry) => entry.event === 'cancelled' && entry.n === n);
    const ended = events.findLastIndex(({ event }) => event === 'ended');
    if (provider.kind.startsWith('stdio') ? processesOf(warren).has(pid) : ended < told) throw new Error('not ended');
  }, WIDE_MS);
}

const processesOf = ({ process }: TestWarren): Set<number> => new Set(providersOf(process.pid).map(({ pid }) => pid));

const cancellations = async (provider: PatientProvider): Promise<number> =>
  (await provider.events()).filter(({ event }) => event === 'cancelled' || event === 'closed').length;

describe('a cancelled call', () => {
  it.each(table)('reaches the provider with its id and disturbs nobody: $kind, $face', async ({ kind, face }) => {
    const provider = found(lasting, kind);
    const [caller, neighbour] = [await createCaller(provider), await createCaller(provider)];
    const [mine, theirs] = [next(), next()];
    const { pid } = await caller.state(provider);
    const neighbours = neighbour.overNotifiedMcp(provider, 'hold', { n: theirs });
    await provider.arrived(theirs);
    const running = caller[face](provider, 'hold', { n: mine });
    await provider.arrived(mine);

    await running.cancel();

    await whenTold(provider, mine);
    expect(await running.answer).toBeUndefined();
    const receipt = await caller.receipt(provider, 'mcp_call_cancelled');
    expect(receipt).toMatchObject({ ok: false, sent: 'maybe' });
    // the session lives on, the neighbour gets its own answer, and nothing of the late reply is seen
    await neighbour.call(provider, 'release', { n: theirs });
    expect((await neighbours.answer).result.content.at(-1).text).toBe(`held ${theirs}`);
    await eventually(async () => {
      expect(await caller.state(provider)).toEqual({ pid, holding: 0, exchanges: kind.startsWith('http') ? 1 : 0 });
    }, WIDE_MS);
    expect((await provider.events()).filter(({ event }) => event === 'resumed' || event === 'ended')).toEqual([]);
  });

  const told = ['stdio-legacy', 'http-legacy-events', 'sse-legacy'] as const;
  it.each(told)('is none when another call, session or agent is named, or when it is over: %s', async (kind) => {
    const provider = found(lasting, kind);
    const [caller, stranger] = [await createCaller(provider), await createCaller(provider)];
    const n = next();
    const running = caller.overNotifiedMcp(provider, 'hold', { n }, 'the-call');
    await provider.arrived(n);
    const before = await cancellations(provider);
    await caller.sendCancel('another-call');
    await caller.sendCancel(undefined);
    await caller.sendCancel({});
    await caller.sendCancel('the-call', 'another-session');
    await stranger.sendCancel('the-call', caller.session);
    expect(await caller.call(provider, 'release', { n })).toMatchObject({ ok: true });
    expect((await running.answer).result.content.at(-1).text).toBe(`held ${n}`);
    await caller.sendCancel('the-call');
    expect((await caller.state(provider)).holding).toBe(0);
    expect(await cancellations(provider)).toBe(before);
  });

  it('is one that passed its deadline too, at every kind of provider', async () => {
    await Promise.all(
      kinds.map(async (kind) => {
        const provider = found(lasting, kind);
        const caller = await createCaller(provider);
        const path = `/api/connections/${provider.id}`;
        const { pid } = await caller.state(provider);
        await warren.api.expect(200, 'PATCH', path, { callTimeoutMs: DEADLINE_MS });
        try {
          const n = next();
          const receipt = await caller.call(provider, 'hold', { n });
          expect(receipt.error).toMatchObject({ code: 'mcp_call_timeout', sent: 'maybe' });
          await whenTold(provider, n);
        } finally {
          await warren.api.expect(200, 'PATCH', path, { callTimeoutMs: null });
        }
        expect(await caller.state(provider)).toMatchObject({ pid, holding: 0 });
      }),
    );
  });
});

describe('a call cancelled on an ephemeral session', () => {
  it.each(eventKinds)('reaches the provider before the session is ended: %s', async (kind) => {
    const provider = found(once, kind);
    const caller = await createCaller(provider);
    const n = next();
    const running = caller.overRest(provider, 'hold', { n });
    await provider.arrived(n);
    await running.cancel();
    await whenTold(provider, n);
    await whenEnded(provider, n);
    expect(await caller.receipt(provider, 'mcp_call_cancelled')).toMatchObject({ ok: false, sent: 'maybe' });
    expect((await caller.call(provider, 'release', { n: 0 })).ok).toBe(true);
  });
});
