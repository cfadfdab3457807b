import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { CallReceipt } from '../src/runtime/menu.answers.js';
import { startCaseProvider } from './cases.provider.js';
import type { HttpProvider } from './support/http-provider.js';
import { MenuBench } from './support/menu-bench.js';
import { temporaryDataDirectory } from './support/temporary-data-directory.js';

const { names } = JSON.parse(readFileSync('test/cases/inputs/provider-names.json', 'utf8')) as { names: string[] };
/** No names at all: empty, over-long, blank, or with characters that control. */
const REFUSED = [...names.filter((name) => name === '' || name.length > 120), ' \t', 'a\nb', 'a\u0000b', 'a\u0085b'];
const SAVED = names.filter((name) => !REFUSED.includes(name));

/** The one rule of how names are compared. */
const fold = (name: string): string => name.toLowerCase();

/** All on one real provider, whose single tool every one of them grants; a receipt tells which was meant. */
describe('names of providers', () => {
  const directory = temporaryDataDirectory();
  let bench: MenuBench;
  let provider: HttpProvider;
  let saved: { id: string; name: string }[];

  beforeAll(async () => {
    bench = await MenuBench.start();
    provider = await startCaseProvider('59-content-types', path.join(directory, 'fake.log'));
    saved = [];
    for (const [at, name] of SAVED.entries()) saved.push(await save({ id: `n-${at}`, name }));
    // the name of one is the id of another
    saved.push(await save({ id: 'PayPal-2', name: 'named otherwise' }));
    saved.push(await save({ id: 'taken', name: 'PayPal-2' }));
    const { items } = await bench.api.expect(200, 'POST', '/api/connections/discover', {});
    expect(items.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([]);
    await bench.agent('names', []);
    const tools = saved.map(({ id }) => ({ connectionId: id, toolName: 'echo' }));
    await bench.api.expect(200, 'PUT', '/api/agents/names/mcp-tools', { tools });
  });

  afterAll(async () => {
    await bench.stop();
    await provider.stop();
  });

  const save = (fields: { id?: string; name: string }): Promise<{ id: string; name: string }> =>
    bench.api.expect(201, 'POST', '/api/connections', { transport: 'http', baseUrl: provider.url, ...fields });

  const call = (asked: string) => bench.call('names', { provider: asked, tool: 'echo', arguments: {} });

  it.each(REFUSED)('are refused when they are saved: %j', async (name) => {
    const body = { name, transport: 'http', baseUrl: provider.url };
    expect(await bench.api.post('/api/connections', body)).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ path: 'name' }] },
    });
  });

  it.each(SAVED)('find their provider, or say which ones they may mean: %j', async (name) => {
    const byId = saved.filter(({ id }) => id === name);
    const meant = byId.length > 0 ? byId : saved.filter((one) => fold(one.name) === fold(name));
    const ids = meant.map(({ id }) => id).toSorted((a, b) => (a < b ? -1 : 1));
    expect(await call(name)).toMatchObject(
      ids.length === 1
        ? { ok: true, provider: { id: ids[0] } }
        : { ok: false, error: { code: 'mcp_provider_ambiguous', sent: 'no', candidates: ids } },
    );
    const own = saved.find((one) => one.name === name);
    const listed = await bench.menu('names', 'mcp_providers', { query: name });
    expect(listed.providers.map(({ id }: { id: string }) => id)).toContain(own?.id);
  });

  it.each(SAVED)('are kept exactly: %j', async (name) => {
    const own = saved.find((one) => one.name === name);
    expect(await bench.api.expect(200, 'GET', `/api/connections/${own?.id}`)).toMatchObject({ name });
  });

  it('are told apart by letters, not by how they look or sort', async () => {
    const alike = ['straße', 'STRASSE', 'ﬁles', 'files', 'İstanbul', 'istanbul', 'caf\u00e9', 'cafe\u0301'];
    expect(SAVED).toEqual(expect.arrayContaining(alike));
    const found = new Set<string>();
    for (const name of [...alike, 'pаypal', 'paypal']) found.add(idIn(await call(name)));
    expect(found.size).toBe(10);
    const { error } = await call('gIT hUB');
    expect(error?.code).toBe('mcp_provider_ambiguous');
    expect(error?.candidates).toHaveLength(3);
  });

  it('give way to an id of exactly that spelling', async () => {
    expect(idIn(await call('PayPal-2'))).toBe('PayPal-2');
    expect(idIn(await call('paypal-2'))).toBe('taken');
    expect(idIn(await call('taken'))).toBe('taken');
  });

  it('leave the ids of mods alone', async () => {
    const { id: own } = await save({ name: 'Mod.Notes' });
    expect(own).not.toMatch(/^mod\./i);
    await bench.api.expect(204, 'DELETE', `/api/connections/${own}`);
    for (const id of ['mod.notes', 'mod.']) {
      const body = { id, name: id, transport: 'http', baseUrl: provider.url };
      expect(await bench.api.post('/api/connections', body)).toMatchObject({
        status: 400,
        body: { errors: [{ path: 'id' }] },
      });
    }
  });

  it('are never joined with the name of a tool', async () => {
    const listing = (tool: string): string => {
      const file = path.join(directory, `${tool}.json`);
      writeFileSync(file, JSON.stringify([{ name: tool, inputSchema: { type: 'object' } }]));
      return file;
    };
    await bench.connect('x__y', {}, listing('z'));
    await bench.connect('x', {}, listing('y__z'));
    await bench.agent('joined', ['x__y/z']);
    expect(await bench.call('joined', { provider: 'x__y', tool: 'z' })).toMatchObject({ ok: true });
    const refused = await bench.call('joined', { provider: 'x', tool: 'y__z' });
    expect(refused).toMatchObject({ ok: false, error: { code: 'mcp_tool_not_granted' } });
    const absent = await bench.call('joined', { provider: 'x__y', tool: 'y__z' });
    expect(absent).toMatchObject({ ok: false, error: { code: 'mcp_tool_not_found' } });
  });
});

/** The provider a receipt is about. */
function idIn({ provider, error }: CallReceipt): string {
  return typeof provider === 'string' ? `none: ${error?.message ?? provider}` : provider.id;
}
