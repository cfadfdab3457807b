import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redactor } from '../src/redactor.js';
import { canary } from './canary/canary.js';
import { MenuBench } from './support/menu-bench.js';

const KEY = canary('log', (value) => `sk-live "${value}" abcdef`);
const FAILING: [method: string, discovered: number, started: number][] = [
  ['initialize', 502, 502],
  ['tools/list', 502, 200],
  ['tools/call', 200, 200],
];

let bench: MenuBench;

beforeAll(async () => {
  bench = await MenuBench.start({ LOG_LEVEL: 'debug' });
});

afterAll(() => bench.stop());

const environment = (failing: string): { name: string; value: string }[] => [
  { name: 'KEY', value: KEY },
  { name: 'FAILING', value: failing },
];

describe('the log of a server whose provider echoes its secret', () => {
  it.each(FAILING)('holds no form of it when %s fails', async (failing, discovered, started) => {
    const id = failing.replace('/', '-');
    const args = [resolve('test/providers/indiscreet-provider.mjs')];
    await bench.connect(id, { args, environmentVariables: environment('') });
    await bench.agent(id, [`${id}/ok`]);
    await bench.change(id, { environmentVariables: environment(failing) });
    const answers = [
      await bench.api.post(`/api/connections/${id}/discover`),
      await bench.api.post(`/api/connections/${id}/start`),
      await bench.api.post('/api/connections/discover', { ids: [id] }),
    ];
    const receipt = await bench.call(id, { provider: id, tool: 'ok' });
    expect(receipt.ok).toBe(false);
    for (const text of [bench.warren.log(), JSON.stringify(answers), JSON.stringify(receipt)]) {
      expect(new Redactor([KEY]).text(text).count).toBe(0);
    }
    expect(answers.map(({ status }) => status)).toEqual([discovered, started, 200]);
    expect(JSON.stringify([answers, receipt])).toContain('the key [redacted] or [redacted]');
  });
});
