import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, MenuBench } from './support/menu-bench.js';

let bench: MenuBench;

beforeAll(async () => {
  bench = await MenuBench.start();
  await bench.connect('bad', { name: 'Misbehaving' });
  await bench.connect('alpha', { name: 'First' });
  await bench.connect('beta', { name: 'alpha' });
  await bench.connect('gamma', { name: 'Ärger Tools' });
  await bench.connect('filtered', { allowTools: ['ok', 'typed', 'is-error'], denyTools: ['is-error', 'slow'] });
  await bench.connect('close');
  await bench.connect('closed', { name: 'Shut Away' });
  await bench.connect('twin-open', { name: 'Twin' });
  await bench.connect('twin-shut', { name: 'twin' });
  const filtered = ['ok', 'typed', 'is-error', 'slow', 'huge'].map((tool) => `filtered/${tool}`);
  await bench.change('filtered', { allowTools: null, denyTools: null });
  await bench.agent('wide', [
    'bad/ok',
    'bad/slow',
    'bad/echo-arguments',
    'alpha/ok',
    'beta/ok',
    'gamma/ok',
    'close/ok',
    'twin-open/ok',
    ...filtered,
  ]);
  await bench.agent('narrow', ['bad/ok', 'closed/ok'], { visibility: 'granted' });
  await bench.agent('both', ['twin-open/ok', 'twin-shut/ok']);
  await bench.change('filtered', { allowTools: ['ok', 'typed', 'is-error'], denyTools: ['is-error', 'slow'] });
  await bench.change('twin-shut', { enabled: false });
  await bench.change('closed', { enabled: false });
});

afterAll(() => bench.stop());

describe('names', () => {
  it.each([
    ['an exact id', 'alpha', 'alpha'],
    ['a unique name in another case', 'FIRST', 'alpha'],
    ['a name beyond ASCII in another case', 'ÄRGER tools', 'gamma'],
    ['an id before the name of another provider', 'alpha', 'alpha'],
    ['the name as spelled', 'Misbehaving', 'bad'],
  ])('finds a provider by %s', async (_what, provider, id) => {
    const receipt = await bench.call('wide', { provider, tool: 'ok' });
    expect(receipt).toMatchObject({ ok: true, provider: { id } });
    const page = await bench.menu('wide', 'mcp_capabilities', { provider });
    expect(page.provider.id).toBe(id);
  });

  it('takes arguments as text that parses to an object, and none as an empty object', async () => {
    const ask = { provider: 'bad', tool: 'echo-arguments' };
    for (const [given, sent] of [
      ['{"a":[1,null,"ü"]}', { a: [1, null, 'ü'] }],
      [{ a: null }, { a: null }],
      [undefined, {}],
      [null, {}],
    ]) {
      const receipt = await bench.call('wide', { ...ask, ...(given === undefined ? {} : { arguments: given }) });
      expect(JSON.parse(String(receipt.content[0]?.['text']))).toEqual(sent);
    }
  });

  it.each(['', ' ', 'x'.repeat(1_025), 'bad\u0000', 'bad/ok', '../bad', '%62ad'])(
    'finds no provider by %j',
    async (name) => {
      const { error } = await bench.call('wide', { provider: name, tool: 'ok' });
      expect(['mcp_provider_not_available', 'mcp_arguments_invalid']).toContain(error?.code);
    },
  );
});

describe('filters', () => {
  it.each(['is-error', 'slow', 'huge'])('hide %s as if it were not in the catalog', async (tool) => {
    const hidden = await bench.call('wide', { provider: 'filtered', tool });
    expect(hidden.error?.code).toBe('mcp_tool_not_found');
    const found = await bench.menu('wide', 'mcp_capabilities', { provider: 'filtered', query: tool });
    expect(found.tools.map(({ name }: { name: string }) => name)).not.toContain(tool);
  });

  it('leave the others, and count only them', async () => {
    expect(await bench.call('wide', { provider: 'filtered', tool: 'ok' })).toMatchObject({ ok: true });
    const page = await bench.menu('wide', 'mcp_capabilities', { provider: 'filtered' });
    expect(page).toMatchObject({ totalCount: 2, tools: [{ name: 'ok' }, { name: 'typed' }] });
    const { providers } = await bench.menu('wide', 'mcp_providers', { query: 'filtered' });
    expect(providers).toMatchObject([{ id: 'filtered', catalogToolCount: 2, grantedToolCount: 2 }]);
  });
});

describe('what an agent may not know of', () => {
  /** The answer without what differs for every request, and with the names asked for replaced. */
  async function answer(agent: string, tool: string, body: Record<string, unknown>): Promise<string> {
    const { callId: _callId, durationMs: _durationMs, ...rest } = await bench.menu(agent, tool, body);
    let text = JSON.stringify(rest);
    for (const [field, value] of Object.entries(body)) text = text.replaceAll(JSON.stringify(value), `"<${field}>"`);
    return text;
  }

  it('answers an agent of visibility granted the same for a tool without a grant and for none', async () => {
    const [hidden, unknown] = [
      await answer('narrow', 'mcp_call', { provider: 'bad', tool: 'typed' }),
      await answer('narrow', 'mcp_call', { provider: 'bad', tool: 'txped' }),
    ];
    expect(hidden).toBe(unknown);
    expect(hidden).toContain('mcp_tool_not_found');
    // also when the call is malformed, and the schema could tell
    const malformed = (tool: string): Promise<string> =>
      answer('narrow', 'mcp_call', { provider: 'bad', tool, beside: 1 });
    expect(await malformed('typed')).toBe(await malformed('txped'));
    const search = (query: string): Promise<string> => answer('narrow', 'mcp_capabilities', { query });
    expect(await search('typed')).toBe(await search('txped'));
  });

  it.each(['mcp_call', 'mcp_capabilities'])('answers %s the same for a hidden provider and for none', async (menu) => {
    const ask = (provider: string): Promise<string> =>
      answer('narrow', menu, menu === 'mcp_call' ? { provider, tool: 'ok' } : { provider });
    const [byId, byName, unknown] = [await ask('alpha'), await ask('First'), await ask('nothing')];
    expect([byId, byName]).toEqual([unknown, unknown]);
    expect(unknown).toContain('mcp_provider_not_available');
  });

  it('lists nothing of it', async () => {
    expect(await bench.menu('narrow', 'mcp_providers', {})).toMatchObject({
      providers: [{ id: 'bad', catalogToolCount: 1, grantedToolCount: 1 }],
      total: 1,
    });
    expect(await bench.menu('narrow', 'mcp_capabilities', {})).toMatchObject({
      totalCount: 1,
      tools: [{ name: 'ok' }],
    });
    expect((await bench.menu('narrow', 'mcp_capabilities', { query: 'city typed' })).totalCount).toBe(0);
  });

  it.each(['mcp_call', 'mcp_capabilities'])(
    'tells by %s of a disabled provider only to who holds a grant there',
    async (menu) => {
      const more = menu === 'mcp_call' ? { tool: 'ok' } : {};
      for (const provider of ['closed', 'Shut Away']) {
        const told = await bench.menu('narrow', menu, { provider, ...more });
        expect(told.error).toMatchObject({
          code: 'mcp_provider_not_available',
          message: 'Shut Away is disabled.',
        });
      }
      const ask = (provider: string): Promise<string> => answer('wide', menu, { provider, ...more });
      for (const [disabled, unknown] of [
        ['closed', 'closex'],
        ['Shut Away', 'Shut Awax'],
      ] as const) {
        expect(await ask(disabled)).toBe(await ask(unknown));
      }
      expect(await ask('closed')).toContain('"suggestions":["close"]');
    },
  );
});

describe('a name that a disabled provider shares', () => {
  it('finds the enabled one for who holds nothing on the other', async () => {
    for (const provider of ['Twin', 'twin', 'TWIN']) {
      const receipt = await bench.call('wide', { provider, tool: 'ok' });
      expect(receipt).toMatchObject({ ok: true, provider: { id: 'twin-open' } });
      expect((await bench.menu('wide', 'mcp_capabilities', { provider })).provider.id).toBe('twin-open');
    }
  });

  it('is ambiguous for who holds a grant on both; an exact id never is', async () => {
    const { error } = await bench.call('both', { provider: 'TWIN', tool: 'ok' });
    expect(error?.code).toBe('mcp_provider_ambiguous');
    expect(JSON.stringify(error)).toContain('twin-shut');
    const shut = await bench.call('both', { provider: 'twin-shut', tool: 'ok' });
    expect(shut.error).toMatchObject({ code: 'mcp_provider_not_available', message: 'twin is disabled.' });
  });
});

describe('a call that is taken back', () => {
  it('is cancelled at the provider when its caller goes away', async () => {
    const before = (await bench.arrivals('bad', 'slow')).length;
    const running = bench.begin('wide', { provider: 'bad', tool: 'slow' });
    const arrival = await eventually(async () => (await bench.arrivals('bad', 'slow'))[before]);
    running.leave();
    await running.left;
    await cancelledAtProvider(arrival.id);
    const receipt = await eventually(async () => {
      const { items } = await bench.api.expect(200, 'GET', '/api/calls?connectionId=bad&tool=slow&limit=1');
      return items[0]?.state === 'finished' ? items[0] : undefined;
    });
    expect(receipt).toMatchObject({ ok: false, code: 'mcp_call_cancelled', sent: 'maybe', agentId: 'wide' });
  });

  it('is cancelled at the provider when its grant is taken away', async () => {
    const before = (await bench.arrivals('bad', 'slow')).length;
    const running = bench.call('wide', { provider: 'bad', tool: 'slow' });
    const arrival = await eventually(async () => (await bench.arrivals('bad', 'slow'))[before]);
    await bench.grant('wide', { remove: ['bad/slow'] });
    const { error } = await running;
    expect(error).toMatchObject({
      code: 'mcp_call_cancelled',
      sent: 'maybe',
      retryable: false,
      hint: expect.any(String),
    });
    await cancelledAtProvider(arrival.id);
    expect((await bench.call('wide', { provider: 'bad', tool: 'slow' })).error?.code).toBe('mcp_tool_not_granted');
  });

  async function cancelledAtProvider(requestId: number | string | undefined): Promise<void> {
    const notice = await eventually(async () => {
      const seen = await bench.seen('bad');
      return seen.find(({ method, params }) => method === 'notifications/cancelled' && params?.requestId === requestId);
    });
    expect(notice.params?.requestId).toBe(requestId);
  }
});
