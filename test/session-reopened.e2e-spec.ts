import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { MenuBench } from './support/menu-bench.js';
import { eventually } from './support/eventually.js';
import { providersOf } from './support/processes.js';

let bench: MenuBench;

beforeAll(async () => {
  bench = await MenuBench.start();
  // its session takes a second to end
  await bench.connect('stubborn', { args: bench.launch('stubborn') });
  await bench.agent('agent', ['stubborn/ok']);
});

afterAll(() => bench.stop());

async function untilSaved(enabled: boolean): Promise<void> {
  await eventually(async () => {
    expect(await bench.api.expect(200, 'GET', '/api/connections/stubborn')).toMatchObject({ enabled });
  });
}

it('starts one process for a connection that is enabled again, and called, before its session has ended', async () => {
  const call = (): Promise<unknown> => bench.call('agent', { provider: 'stubborn', tool: 'ok' });
  expect(await call()).toMatchObject({ ok: true });
  // either change is answered when the session has ended, and saved before
  const disabling = bench.change('stubborn', { enabled: false });
  await untilSaved(false);
  const enabling = bench.change('stubborn', { enabled: true });
  await untilSaved(true);
  await Promise.all([disabling, enabling, call(), call(), call()]);
  expect(await call()).toMatchObject({ ok: true });
  await eventually(() => expect(providersOf(bench.warren.process.pid)).toHaveLength(1));
});
