import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { startCaseProvider } from './cases.provider.js';
import type { HttpProvider } from './support/http-provider.js';
import { MenuBench } from './support/menu-bench.js';
import { temporaryDataDirectory } from './support/temporary-data-directory.js';

/** A provider is renewed behind its connection: what was learned of its protocol era proves wrong, and is learned anew. */
describe('the protocol era of a provider', () => {
  let bench: MenuBench;
  let oldEra: HttpProvider;
  let newEra: HttpProvider;

  beforeAll(async () => {
    const directory = temporaryDataDirectory();
    bench = await MenuBench.start();
    oldEra = await startCaseProvider('59-content-types', join(directory, 'old.jsonl'));
    newEra = await startCaseProvider('65-modern-http', join(directory, 'new.jsonl'));
    await bench.connect('local');
    const http = { transport: 'http', command: undefined, args: undefined, environmentVariables: undefined };
    await bench.connect('remote', { ...http, baseUrl: oldEra.url });
    await bench.agent('demo', ['local/ok']);
  });

  afterAll(async () => {
    await bench.stop();
    await oldEra.stop();
    await newEra.stop();
  });

  const versionAfterDiscovery = async (id: string): Promise<string> => {
    await bench.api.expect(200, 'POST', `/api/connections/${id}/discover`);
    const { catalog } = await bench.api.expect(200, 'GET', `/api/connections/${id}`);
    return catalog.protocolVersion;
  };

  it.each(['keep_alive', 'ephemeral'])('is learned anew on stdio, both ways (%s)', async (lifecycle) => {
    await bench.change('local', { lifecycle, args: bench.launch('well') });
    expect(await versionAfterDiscovery('local')).not.toBe('2026-07-28');
    await bench.change('local', { args: bench.launch('modern') });
    expect(await versionAfterDiscovery('local')).toBe('2026-07-28');
    expect(await bench.call('demo', { provider: 'local', tool: 'ok' })).toMatchObject({ ok: true });
    await bench.change('local', { args: bench.launch('well') });
    expect(await versionAfterDiscovery('local')).not.toBe('2026-07-28');
    expect(await bench.call('demo', { provider: 'local', tool: 'ok' })).toMatchObject({ ok: true });
  });

  it('is remembered, so that a provider is started once and not twice', async () => {
    await bench.change('local', { lifecycle: 'ephemeral', args: bench.launch('modern') });
    await versionAfterDiscovery('local');
    const starts = async (): Promise<number> =>
      (await bench.seen('local')).filter(({ event }) => event === 'start').length;
    const before = await starts();
    expect(await bench.call('demo', { provider: 'local', tool: 'ok' })).toMatchObject({ ok: true });
    expect(await starts()).toBe(before + 1);
  });

  it.each(['keep_alive', 'ephemeral'])('is learned anew over HTTP, both ways (%s)', async (lifecycle) => {
    await bench.change('remote', { lifecycle, baseUrl: oldEra.url });
    expect(await versionAfterDiscovery('remote')).not.toBe('2026-07-28');
    await bench.change('remote', { baseUrl: newEra.url });
    expect(await versionAfterDiscovery('remote')).toBe('2026-07-28');
    await bench.change('remote', { baseUrl: oldEra.url });
    expect(await versionAfterDiscovery('remote')).not.toBe('2026-07-28');
  });
});
