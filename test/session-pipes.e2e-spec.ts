import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MenuBench } from './support/menu-bench.js';
import { temporaryDataDirectory } from './support/temporary-data-directory.js';

const names = ['odd-progress', 'close-input', 'close-output'];
const call = (tool: string) => ({ provider: 'line', tool });

describe('a process that misuses its pipes', () => {
  let bench: MenuBench;

  beforeAll(async () => {
    bench = await MenuBench.start();
    const catalog = join(temporaryDataDirectory(), 'tools.json');
    writeFileSync(catalog, JSON.stringify(names.map((name) => ({ name, inputSchema: { type: 'object' } }))));
    await bench.connect('line', {}, catalog);
    await bench.agent('demo', ['line/ok', 'line/slow', ...names.map((name) => `line/${name}`)]);
  });

  afterAll(() => bench.stop());

  it('cannot bring Warren down by what it says of its progress', async () => {
    expect(await bench.call('demo', call('odd-progress'))).toMatchObject({ ok: true, content: [{ text: 'survived' }] });
    expect(await bench.call('demo', call('ok'))).toMatchObject({ ok: true });
    expect(bench.warren.process.exitCode).toBeNull();
  });

  it('is replaced when it no longer listens', async () => {
    await bench.call('demo', call('close-input'));
    // the first that finds it deaf may fail, and says that nothing was sent
    const { ok, error } = await bench.call('demo', call('ok'));
    expect(ok || error?.sent !== 'yes').toBe(true);
    await expectWell();
  });

  it('is replaced when it can no longer answer, and whoever waits is told before its deadline', async () => {
    const { error, durationMs } = await bench.call('demo', call('close-output'));
    expect(error).toMatchObject({ code: 'mcp_call_interrupted', sent: 'maybe' });
    expect(durationMs).toBeLessThan(20_000);
    await expectWell();
  });

  const expectWell = async (): Promise<void> => {
    for (let count = 1; ; count += 1) {
      const receipt = await bench.call('demo', call('ok'));
      if (receipt.ok) return;
      if (count === 20) throw new Error(`still broken: ${JSON.stringify(receipt.error)}`);
    }
  };
});

describe('calls that wait in line for an ephemeral connection', () => {
  let bench: MenuBench;

  beforeAll(async () => {
    bench = await MenuBench.start();
    await bench.connect('line', { lifecycle: 'ephemeral', maxConcurrentCalls: 1 });
    await bench.agent('demo', ['line/slow']);
    await bench.change('line', { callTimeoutMs: 1_500 });
  });

  afterAll(() => bench.stop());

  it('wait no longer than a call may take', async () => {
    const receipts = await Promise.all(Array.from({ length: 6 }, () => bench.call('demo', call('slow'))));
    expect(receipts.map(({ error }) => error?.code)).toEqual(Array(6).fill('mcp_call_timeout'));
    // all of them one after the other would take 9 s
    for (const { durationMs } of receipts) expect(durationMs).toBeLessThan(7_000);
    expect(receipts.filter(({ error }) => error?.sent === 'no').length).toBeGreaterThanOrEqual(4);
  });
});
