import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { OutboundError } from '../src/outbound-error.js';
import type { Lookup } from '../src/safe-fetch.resolve.js';
import { ownUrlForms } from './data/url-forms.js';
import {
  allow,
  answer,
  closeAll,
  failure,
  type Listening,
  safeFetch,
  tcpServer,
  tcpServerEverywhere,
} from './safe-fetch.servers.js';

interface UrlForm {
  url: string;
  blockByDefault: boolean;
}

const file = new URL('./cases/inputs/ssrf-urls.json', import.meta.url);
const fromFile = (JSON.parse(readFileSync(file, 'utf8')) as { urls: UrlForm[] }).urls;
const blockedForms = [...fromFile.filter((form) => form.blockByDefault).map((form) => form.url), ...ownUrlForms];
const openForms = fromFile.filter((form) => !form.blockByDefault).map((form) => form.url);

/** Names of the forms above; everything else resolves to a public address. */
const names: Record<string, string> = {
  '127.0.0.1.nip.io': '127.0.0.1',
  'rebind.test': '127.0.0.1',
  'mapped.test': '::ffff:127.0.0.1',
  'nat64.test': '64:ff9b::7f00:1',
  'zoned.test': 'fe80::1%lo',
  'private.test': '10.0.0.1',
  'zero.test': '0.0.0.0',
};
const lookup: Lookup = (hostname) =>
  Promise.resolve([{ address: names[hostname] ?? '1.1.1.1', family: names[hostname]?.includes(':') === true ? 6 : 4 }]);

let canary: Listening;
beforeEach(async () => {
  canary = await tcpServerEverywhere((socket) => socket.end(answer('canary')));
});
afterEach(closeAll);

/** Points a form at the canary, so that a hole in the policy shows as a connection. */
function atCanary(url: string): string {
  return url.replace(':9/', `:${String(canary.port)}/`).replace(':9\\', `:${String(canary.port)}\\`);
}

describe('URL forms that reach inside', () => {
  afterAll(() => {
    process.stdout.write(`URL forms tested: ${String(blockedForms.length + openForms.length)}\n`);
  });

  it('covers at least 150 forms', () => {
    expect(blockedForms.length + openForms.length).toBeGreaterThanOrEqual(150);
  });

  it.each(blockedForms)('refuses %j without dialling', async (form) => {
    const safe = safeFetch({ allowedNetworks: allow(''), lookup });
    for (const url of new Set([form, atCanary(form)])) {
      const error = await failure(safe.fetch(url));
      expect(error).toBeInstanceOf(OutboundError);
      expect(error).toMatchObject({ reason: 'egress_denied', sent: 'no' });
      expect(error.message).not.toMatch(/SECRET|pw@/u);
      expect(await failure(safe.warm(url))).toMatchObject({ reason: 'egress_denied' });
    }
    expect(canary.connections()).toBe(0);
  });

  it.each(openForms)('lets %j pass the address policy', async (url) => {
    expect(await safeFetch({ allowedNetworks: allow(''), lookup }).resolve(url)).toHaveLength(1);
  });
});

describe('dialling', () => {
  it('refuses a name that mixes public and private addresses', async () => {
    const mixed: Lookup = () =>
      Promise.resolve([
        { address: '1.1.1.1', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ]);
    const safe = safeFetch({ allowedNetworks: allow(''), lookup: mixed });
    expect(await failure(safe.fetch(`http://mixed.test:${String(canary.port)}/`))).toMatchObject({
      reason: 'egress_denied',
      message: expect.stringMatching(/loopback.*WARREN_ALLOW_PRIVATE_NETWORKS/u),
    });
    expect(canary.connections()).toBe(0);
  });

  it('dials the address that was checked, though the name has another one by then', async () => {
    const asked: string[] = [];
    const rebinding: Lookup = (hostname) => {
      asked.push(hostname);
      return Promise.resolve([{ address: asked.length === 1 ? '127.0.0.2' : '127.0.0.1', family: 4 }]);
    };
    // 127.0.0.2 stands for the honest address, 127.0.0.1 for the one that must not be dialled.
    const honest = await tcpServer((socket) => socket.end(answer('honest')), '127.0.0.2');
    const safe = safeFetch({ allowedNetworks: allow('127.0.0.2'), lookup: rebinding });
    const url = `http://rebind.test:${String(honest.port)}/`;
    expect(await (await safe.fetch(url)).text()).toBe('honest');
    expect(asked).toEqual(['rebind.test']);
    expect(await failure(safe.fetch(url))).toMatchObject({ reason: 'egress_denied' });
    expect(honest.connections()).toBe(1);
  });

  it('goes on to the next address when one refuses', async () => {
    const open = await tcpServer((socket) => socket.end(answer('second')), '127.0.0.3');
    const two: Lookup = () => Promise.resolve(['127.0.0.4', '127.0.0.3'].map((address) => ({ address, family: 4 })));
    const response = await safeFetch({ lookup: two }).fetch(`http://two.test:${String(open.port)}/`);
    expect(await response.text()).toBe('second');
  });

  it('opens what an administrator allowed: a name, localhost through its network', async () => {
    const url = `http://tools.test:${String(canary.port)}/`;
    const named = safeFetch({
      allowedNetworks: allow('tools.test'),
      lookup: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
    });
    expect(await (await named.fetch(url)).text()).toBe('canary');
    const local = await safeFetch().fetch(`http://localhost:${String(canary.port)}/`);
    expect(await local.text()).toBe('canary');
  });

  it('never dials its own listener, also not by another spelling or interface', async () => {
    const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    const hosts = ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', 'localhost'].concat(
      interfaces.filter(({ family }) => family === 'IPv4').map(({ address }) => address),
    );
    const safe = safeFetch({
      allowedNetworks: allow('0.0.0.0/0 ::/0 localhost'),
      ownListeners: () => [{ address: '0.0.0.0', port: canary.port }],
    });
    for (const host of hosts) {
      expect(await failure(safe.fetch(`http://${host}:${String(canary.port)}/`))).toMatchObject({
        reason: 'egress_denied',
      });
    }
    expect(canary.connections()).toBe(0);
  });

  it('names what went wrong on the way', async () => {
    const unknown = safeFetch({ lookup: () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })) });
    expect(await failure(unknown.fetch('http://nowhere.test/'))).toMatchObject({ reason: 'dns_failed', sent: 'no' });
    const empty = safeFetch({ lookup: () => Promise.resolve([]) });
    expect(await failure(empty.fetch('http://nowhere.test/'))).toMatchObject({ reason: 'dns_failed', sent: 'no' });
    const slow = safeFetch({ lookup: () => new Promise(() => undefined), limits: { connectMs: 30 } });
    expect(await failure(slow.fetch('http://slow.test/'))).toMatchObject({ reason: 'connection_timeout', sent: 'no' });
    await closeAll();
    const refused = safeFetch().fetch(`http://127.0.0.1:${String(canary.port)}/p?key=SECRET`);
    const error = await failure(refused);
    expect(error).toMatchObject({ reason: 'connection_refused', sent: 'no' });
    expect(error.message).toContain(`127.0.0.1:${String(canary.port)}/p`);
    expect(error.message).not.toContain('SECRET');
  });

  it('gives the address as the reason also on ports that fetch forbids', async () => {
    const safe = safeFetch({ allowedNetworks: allow(''), lookup });
    expect((await failure(safe.fetch('http://127.0.0.1:9/'))).message).toContain('loopback');
    expect(await failure(safe.fetch('http://public.test:9/'))).toMatchObject({ reason: 'egress_denied', sent: 'no' });
  });

  it('takes no proxy from the environment', async () => {
    process.env['HTTP_PROXY'] = `http://127.0.0.1:${String(canary.port)}`;
    process.env['http_proxy'] = process.env['HTTP_PROXY'];
    try {
      const provider = await tcpServer((socket) => socket.end(answer('direct')));
      const response = await safeFetch().fetch(`http://127.0.0.1:${String(provider.port)}/`);
      expect(await response.text()).toBe('direct');
      expect(canary.connections()).toBe(0);
    } finally {
      delete process.env['HTTP_PROXY'];
      delete process.env['http_proxy'];
    }
  });
});
