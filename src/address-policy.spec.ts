import { describe, expect, it } from '@jest/globals';
import {
  type AllowedNetworks,
  judgeAddress,
  type Listener,
  parseAllowedNetworks,
  refusalText,
} from './address-policy.js';

function allow(text: string): AllowedNetworks {
  const parsed = parseAllowedNetworks(text);
  if (!parsed.ok) throw new Error(parsed.problems.join('; '));
  return parsed.value;
}

function judge(address: string, allowed = '', host = 'h.test', ownListeners: Listener[] = [], port = 80): string {
  const verdict = judgeAddress({ host, address, port }, { allowed: allow(allowed), ownListeners });
  return verdict.allowed ? 'allowed' : verdict.class;
}

describe('judgeAddress', () => {
  it.each([
    ['1.1.1.1', 'allowed'],
    ['172.32.0.1', 'allowed'],
    ['172.15.255.255', 'allowed'],
    ['100.128.0.1', 'allowed'],
    ['2606:4700:4700::1111', 'allowed'],
    ['2a00:1450:4001:80b::200e', 'allowed'],
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['::', 'unspecified'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.255', 'loopback'],
    ['::1', 'loopback'],
    ['10.255.255.255', 'private'],
    ['172.16.0.0', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.0.1', 'private'],
    ['100.64.0.1', 'carrier-grade NAT'],
    ['100.127.255.255', 'carrier-grade NAT'],
    ['169.254.1.1', 'link-local'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['febf::1', 'link-local'],
    ['fc00::1', 'unique local'],
    ['fdff::1', 'unique local'],
    ['fec0::1', 'site-local'],
    ['192.0.2.1', 'documentation'],
    ['198.51.100.1', 'documentation'],
    ['203.0.113.1', 'documentation'],
    ['2001:db8::1', 'documentation'],
    ['3fff::1', 'documentation'],
    ['3fff:fff:ffff::1', 'documentation'],
    ['198.18.0.1', 'benchmark'],
    ['198.19.255.255', 'benchmark'],
    ['2001:2::1', 'benchmark'],
    ['192.88.99.1', '6to4'],
    ['2002:808:808::1', '6to4'],
    ['192.0.0.1', 'reserved'],
    ['240.0.0.1', 'reserved'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['ff02::1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'Teredo'],
    ['2001:10::1', 'ORCHID'],
    ['2001:20::1', 'ORCHID'],
    ['2001:5::1', 'reserved'],
    ['100::1', 'discard'],
    ['64:ff9b::808:808', 'NAT64'],
    ['64:ff9b:1::808:808', 'NAT64'],
    ['64:ff9b:1:ffff:ffff:ffff:808:808', 'NAT64'],
    ['::ffff:8.8.8.8', 'IPv4-mapped'],
    ['::ffff:127.0.0.1', 'IPv4-mapped'],
    ['::ffff:0:8.8.8.8', 'IPv4-translated'],
    ['::127.0.0.1', 'IPv4-compatible'],
    ['192.31.196.1', 'AS112'],
    ['2620:4f:8000::1', 'AS112'],
    ['5f00::1', 'reserved'],
    ['4000::1', 'reserved'],
    ['1::1', 'reserved'],
    ['not an address', 'reserved'],
    ['010.0.0.1', 'reserved'],
    ['2130706433', 'reserved'],
  ])('judges %s as %s', (address, verdict) => {
    expect(judge(address)).toBe(verdict);
  });

  it('opens a range, an address or a host by name, and nothing beside it', () => {
    expect(judge('10.1.2.3', '10.1.0.0/16')).toBe('allowed');
    expect(judge('10.2.0.1', '10.1.0.0/16')).toBe('private');
    expect(judge('192.168.1.5', '192.168.1.5')).toBe('allowed');
    expect(judge('192.168.1.6', '192.168.1.5')).toBe('private');
    expect(judge('::1', '[::1]')).toBe('allowed');
    expect(judge('fd00::7', 'fd00::/8')).toBe('allowed');
    expect(judge('10.1.2.3', 'tools.internal', 'TOOLS.internal.')).toBe('allowed');
    expect(judge('10.1.2.3', 'tools.internal', 'a.tools.internal')).toBe('private');
  });

  it('judges the IPv4 address inside an IPv6 one as well', () => {
    expect(judge('64:ff9b::808:808', '64:ff9b::/96')).toBe('allowed');
    expect(judge('64:ff9b::a00:1', '64:ff9b::/96')).toBe('NAT64');
    expect(judge('64:ff9b::a00:1', '64:ff9b::/96,10.0.0.0/8')).toBe('allowed');
    expect(judge('2002:a00:1::', '2002::/16')).toBe('6to4');
    expect(judge('::ffff:10.0.0.1', '10.0.0.0/8')).toBe('allowed');
    expect(judge('::ffff:11.0.0.1', '10.0.0.0/8')).toBe('IPv4-mapped');
  });

  it.each([
    '169.254.169.254',
    '169.254.170.2',
    '100.100.100.200',
    'fd00:ec2::254',
    '::ffff:169.254.169.254',
    '::169.254.169.254',
    '::ffff:0:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '2a00:1:2:3::a9fe:a9fe',
    '2001:0:4136:e378:8000:63bf:5601:5601',
  ])('never opens the metadata address %s', (address) => {
    expect(judge(address, '0.0.0.0/0,::/0,h.test')).toBe('metadata');
  });

  it('never opens a metadata name, whatever it resolves to', () => {
    expect(judge('8.8.8.8', 'metadata.google.internal', 'Metadata.Google.Internal.')).toBe('metadata');
  });

  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
    ['127.0.0.1', '0.0.0.0'],
    ['127.9.9.9', '::'],
    ['::1', '::'],
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['127.0.0.1', '::ffff:127.0.0.1'],
    ['10.0.0.5', '10.0.0.5'],
    ['127.0.0.1', 'some name'],
  ])('never dials %s when Warren itself listens on %s', (address, own) => {
    const listeners = [{ address: own, port: 8080 }];
    expect(judge(address, '0.0.0.0/0,::/0', 'h.test', listeners, 8080)).toBe('own listener');
    expect(judge(address, '0.0.0.0/0,::/0', 'h.test', listeners, 8081)).toBe('allowed');
  });

  it('dials a neighbour of its own listener', () => {
    expect(judge('127.0.0.2', '127.0.0.0/8', 'h.test', [{ address: '127.0.0.1', port: 80 }])).toBe('allowed');
  });
});

describe('parseAllowedNetworks', () => {
  it('reads names, addresses and CIDRs', () => {
    const value = allow(' 10.0.0.0/8, ::1\n[fd00::1] Provider.Internal. bücher.test ');
    expect([...value.hosts]).toEqual(['provider.internal', 'xn--bcher-kva.test']);
    expect(value.ranges.map(([base, bits]) => `${base.toString()}/${String(bits)}`)).toEqual([
      '10.0.0.0/8',
      '::1/128',
      'fd00::1/128',
    ]);
    expect(allow('')).toMatchObject({ ranges: [] });
  });

  it.each([
    '10.0.0.0/33',
    '::/129',
    '10.0.0/8',
    '127.1',
    '010.0.0.1',
    '*.internal',
    'http://a',
    'a:80',
    'a/b',
    '10.0.0.0/-1',
  ])('names the bad entry %s', (entry) => {
    const parsed = parseAllowedNetworks(`10.0.0.0/8,${entry}`);
    expect(parsed).toMatchObject({ ok: false, problems: [expect.stringContaining(`"${entry}"`)] });
  });
});

describe('refusalText', () => {
  it('names the setting only where it would help', () => {
    const target = { host: 'h.test', port: 80 };
    expect(refusalText(target, 'private')).toMatch(/h\.test:80.*private.*WARREN_ALLOW_PRIVATE_NETWORKS/u);
    expect(refusalText(target, 'metadata')).not.toContain('WARREN_');
    expect(refusalText(target, 'own listener')).not.toContain('WARREN_');
  });
});
