import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readToolPages } from '../src/catalog/tool-page-reader.js';
import { recordedCatalogs } from './recorded-catalogs.js';

const PROVIDER = fileURLToPath(new URL('./providers/catalog-provider.mjs', import.meta.url));

let folder: string;
let child: ChildProcessWithoutNullStreams | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'catalog-provider-'));
});

afterEach(async () => {
  if (child !== undefined && child.exitCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(folder, { recursive: true });
});

/** Starts the provider; the answer asks it one thing at a time. */
function start(catalogPath: string, log: string) {
  const started = spawn(process.execPath, [PROVIDER, catalogPath], { env: { FAKE_LOG: log } });
  child = started;
  const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]();
  let id = 0;
  return async (method: string, params: unknown) => {
    started.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: (id += 1), method, params })}\n`);
    const { value } = await lines.next();
    return JSON.parse(String(value)) as { id: number; result?: unknown; error?: { code: number } };
  };
}

describe('the recorded provider', () => {
  it('serves pages, echoes calls, logs arrivals and ends with its input', async () => {
    const pages = [
      { tools: [{ name: 'a' }], nextCursor: 'p 2/é' },
      { tools: [{ name: 'b' }], nextCursor: 'p3' },
      { tools: [{ name: 'c' }] },
    ];
    const catalog = join(folder, 'catalog.json');
    const log = join(folder, 'log');
    writeFileSync(catalog, JSON.stringify({ initialize: { serverInfo: { name: 'recorded' } }, pages }));
    const ask = start(catalog, log);

    const hello = await ask('initialize', { protocolVersion: '2025-06-18' });
    expect(hello.result).toEqual({ protocolVersion: '2025-06-18', serverInfo: { name: 'recorded' } });
    const read = await readToolPages(async (cursor) => (await ask('tools/list', { cursor })).result);
    expect(read.tools).toEqual([{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
    expect((await ask('tools/list', { cursor: 'none' })).error?.code).toBe(-32602);
    const called = await ask('tools/call', { name: 'b', arguments: { x: [1] } });
    expect(called.result).toEqual({ content: [{ type: 'text', text: '{"tool":"b","arguments":{"x":[1]}}' }] });
    expect((await ask('tools/call', { name: 'B' })).error?.code).toBe(-32602);

    child?.stdin.end();
    if (child?.exitCode === null) await once(child, 'exit');
    const arrivals = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { method?: string });
    const listed = arrivals.filter(({ method }) => method === 'tools/list');
    expect(listed).toHaveLength(4);
    expect(child?.exitCode).toBe(0);
  });

  it('serves a recorded catalog as it was received', async () => {
    const [catalog] = recordedCatalogs();
    const ask = start(catalog?.path ?? '', join(folder, 'log'));
    const read = await readToolPages(async (cursor) => (await ask('tools/list', { cursor })).result);
    expect(read.tools).toEqual(catalog?.pages.flatMap(({ tools }) => tools));
  });
});
