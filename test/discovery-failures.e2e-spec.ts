import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CatalogFixture, tool } from './support/catalog-fixture.js';

let fixture: CatalogFixture;

beforeEach(async () => {
  fixture = await CatalogFixture.open();
});

afterEach(() => fixture.close());

const twoPages = { pages: [{ tools: [tool('a'), tool('b')] }, { tools: [tool('c')] }] };

describe('a discovery that fails', () => {
  it.each([
    ['exits on its second page', { pages: [{ tools: [tool('z')] }, { exit: 3 }] }, 'process_exited'],
    [
      'refuses its second page',
      { pages: [{ tools: [tool('z')] }, { error: { code: -32_603, message: 'broken' } }] },
      'unknown',
    ],
    [
      'has no tool list on its second page',
      { pages: [{ tools: [] }, { error: { code: -32_601, message: 'no' } }] },
      'unknown',
    ],
    ['sends no list', { pages: [{ tools: 'none' }] }, 'not_mcp'],
    ['exits at start', { exitAtStart: 7, stderr: 'the reason for it\n' }, 'process_exited'],
  ])('changes nothing when the provider %s', async (_how, script, reason) => {
    await fixture.connectScript('p', twoPages);
    await fixture.agent('ann', { p: ['a'] });
    await fixture.discovery.discover('p');
    const before = await fixture.connections.require('p');
    fixture.script('p', script);
    await expect(fixture.discovery.discover('p')).rejects.toMatchObject({
      code: 'provider_unreachable',
      status: 502,
      reason,
    });
    expect(await fixture.stored('p')).toEqual(['a', 'b', 'c']);
    expect(await fixture.connections.require('p')).toEqual(before);
  });

  it('says the exit code and the last of standard error, without secrets and bounded', async () => {
    const secret = 'hush-hush-hush';
    await fixture.connectScript(
      'p',
      { exitAtStart: 7, stderr: `${'x'.repeat(9_000)} the end, ${secret}\n` },
      { environmentVariables: [{ name: 'KEY', value: secret }] },
    );
    const error = (await fixture.discovery.discover('p').catch((failure: unknown) => failure)) as { detail: string };
    expect(error.detail).toContain('exit code 7');
    expect(error.detail).toMatch(/the end, \[redacted\]$/);
    expect(error.detail.length).toBeLessThan(3_100);
  });

  it('reads again, in a new process, what broke in passing', async () => {
    await fixture.connectScript('p', {
      pages: [{ tools: [tool('a')] }, { exitOnce: fixture.path('mark'), tools: [tool('b')] }],
    });
    expect(await fixture.discovery.discover('p')).toMatchObject({ toolCount: 2 });
    expect(fixture.asked('p')).toEqual(['start', 'list', 'list', 'start', 'list', 'list']);
  });

  it('gives up after three more readings', async () => {
    await fixture.connectScript('p', { pages: [{ exit: 1 }] });
    await expect(fixture.discovery.discover('p')).rejects.toMatchObject({ reason: 'process_exited' });
    expect(fixture.asked('p').filter((event) => event === 'list')).toHaveLength(4);
  });

  it('ends at its deadline and is not tried again then', async () => {
    await fixture.connectScript('p', { pages: [{ silent: true }] }, { connectTimeoutMs: 4_000 });
    await expect(fixture.discovery.discover('p')).rejects.toMatchObject({
      code: 'provider_timeout',
      reason: 'connection_timeout',
    });
    expect(fixture.asked('p')).toEqual(['start', 'list']);
  });

  it('names what is missing or switched off', async () => {
    await fixture.connectScript('off', twoPages, { enabled: false });
    await fixture.connect('none', 'script-provider.mjs', [], { command: 'no-such-command-here' });
    await fixture.connectScript('p', twoPages);
    const outcomes = await fixture.discovery.discoverMany(['off', 'p', 'none', 'nowhere', 'p']);
    expect(outcomes).toMatchObject([
      { connectionId: 'off', ok: false, error: { code: 'connection_disabled' } },
      { connectionId: 'p', ok: true, discovery: { toolCount: 3 } },
      { connectionId: 'none', ok: false, error: { code: 'provider_unreachable', reason: 'executable_not_found' } },
      { connectionId: 'nowhere', ok: false, error: { code: 'connection_not_found' } },
    ]);
    expect((await fixture.discovery.discoverMany(undefined)).map(({ connectionId }) => connectionId)).toEqual([
      'none',
      'p',
    ]);
  });

  it('says so when something that is not MCP answers', async () => {
    const page = (_request: unknown, response: ServerResponse): void => {
      response.setHeader('content-type', 'text/html').end('<html>Please log in</html>');
    };
    const server = createServer(page).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      await fixture.connectHttp('web', `http://127.0.0.1:${port}/mcp`);
      const discovered = fixture.discovery.discover('web');
      await expect(discovered).rejects.toMatchObject({
        code: 'provider_unreachable',
        detail: expect.stringContaining('text/html'),
      });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('does not launch again what was switched off meanwhile', async () => {
    await fixture.connectScript('p', { pages: [{ silent: true }] });
    const running = fixture.discovery.discover('p').catch((error: unknown) => error);
    await fixture.untilAsked('p', 'list');
    await fixture.change('p', { enabled: false });
    expect(await running).toMatchObject({ code: 'connection_disabled' });
    expect(fixture.asked('p')).toEqual(['start', 'list']);
  });
});
