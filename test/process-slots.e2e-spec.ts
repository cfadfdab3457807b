import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, MenuBench } from './support/menu-bench.js';

const CONNECTIONS = ['one', 'two', 'three', 'four'];
const SLOTS = 2;

describe('a server that may have two provider processes', () => {
  let bench: MenuBench;

  beforeAll(async () => {
    bench = await MenuBench.start({ WARREN_MAX_PROCESSES: String(SLOTS) });
    for (const id of CONNECTIONS) await bench.connect(id, { connectTimeoutMs: 15_000 });
    await bench.agent(
      'worker',
      CONNECTIONS.flatMap((id) => [`${id}/ok`, `${id}/slow`]),
    );
  });

  afterAll(() => bench.stop());

  const call = (provider: string, tool: string, args: Record<string, unknown> = {}) =>
    bench.call('worker', { provider, tool, arguments: args });
  /** A call that goes on until its caller leaves; it has arrived. */
  const hold = async (id: string) => {
    const before = (await bench.arrivals(id, 'slow')).length;
    const begun = bench.begin('worker', { provider: id, tool: 'slow' });
    await eventually(async () => (await bench.arrivals(id, 'slow')).length > before || undefined);
    return begun;
  };
  const stateOf = async (id: string): Promise<string> =>
    (await bench.api.expect(200, 'GET', `/api/connections/${id}`)).live.state;
  const living = async (): Promise<string[]> => {
    const answers = await Promise.all(CONNECTIONS.map((id) => bench.api.expect(200, 'GET', `/api/connections/${id}`)));
    return answers.filter(({ live }) => live.processes !== undefined).map(({ id }) => id as string);
  };

  it('ends the session that nobody has used for longest when another connection needs its process', async () => {
    for (const id of [...CONNECTIONS, ...CONNECTIONS]) expect(await call(id, 'ok')).toMatchObject({ ok: true });
    const alive = await living();
    expect(alive.length).toBeLessThanOrEqual(SLOTS);
    expect(alive).toContain('four');
  });

  it('serves a call that waits as soon as one of the others is no longer in use', async () => {
    const running = await Promise.all([hold('one'), hold('two')]);
    const waiting = call('three', 'ok');
    await eventually(async () => ((await stateOf('three')) === 'connecting' ? true : undefined));
    for (const each of running) each.leave();
    expect(await waiting).toMatchObject({ ok: true });
    for (const { left } of running) await left;
  });

  it('gives the process of a session that is ready, and that nobody waits for any more, to a call that waits', async () => {
    await bench.change('four', { connectTimeoutMs: 15_000, args: bench.launch('late', '2000') });
    const held = await hold('two');
    const left = bench.begin('worker', { provider: 'four', tool: 'ok' });
    await eventually(async () => ((await stateOf('four')) === 'connecting' ? true : undefined));
    const waiting = call('three', 'ok');
    await eventually(async () => ((await stateOf('three')) === 'connecting' ? true : undefined));
    left.leave();
    expect(await waiting).toMatchObject({ ok: true });
    held.leave();
    await Promise.all([held.left, left.left]);
  });

  it('tells an operator that it is busy, and does not blame the provider', async () => {
    await bench.change('three', { connectTimeoutMs: 1_000 });
    const running = await Promise.all([hold('one'), hold('two')]);
    for (const path of ['start', 'discover']) {
      expect(await bench.api.expect(503, 'POST', `/api/connections/three/${path}`)).toMatchObject({ code: 'busy' });
    }
    expect(await call('three', 'ok')).toMatchObject({ ok: false, error: { code: 'busy', sent: 'no' } });
    for (const each of running) {
      each.leave();
      await each.left;
    }
    expect(await call('three', 'ok')).toMatchObject({ ok: true });
  });
});
