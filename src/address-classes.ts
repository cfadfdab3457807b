import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** What kind of address it is; everything but `global` stays inside some network or is not meant to be dialled. */
export type AddressClass =
  | 'global'
  | 'loopback'
  | 'unspecified'
  | 'private'
  | 'link-local'
  | 'carrier-grade NAT'
  | 'unique local'
  | 'site-local'
  | 'multicast'
  | 'broadcast'
  | 'benchmark'
  | 'documentation'
  | 'discard'
  | 'AS112'
  | 'multicast tunnel'
  | 'ORCHID'
  | 'IPv4-mapped'
  | 'IPv4-compatible'
  | 'IPv4-translated'
  | 'NAT64'
  | '6to4'
  | 'Teredo'
  | 'reserved';

type Range = readonly [AddressClass, readonly string[]];

/** From the IANA special-purpose registries; the first match counts, so narrow ranges stand before wide ones. */
const ranges: readonly Range[] = [
  ['unspecified', ['0.0.0.0/8', '::/128']],
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']],
  ['carrier-grade NAT', ['100.64.0.0/10']],
  ['link-local', ['169.254.0.0/16', 'fe80::/10']],
  ['unique local', ['fc00::/7']],
  ['site-local', ['fec0::/10']],
  ['documentation', ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20']],
  ['benchmark', ['198.18.0.0/15', '2001:2::/48']],
  ['AS112', ['192.31.196.0/24', '192.175.48.0/24', '2001:4:112::/48', '2620:4f:8000::/48']],
  ['multicast tunnel', ['192.52.193.0/24', '2001:3::/32']],
  ['6to4', ['192.88.99.0/24', '2002::/16']],
  ['multicast', ['224.0.0.0/4', 'ff00::/8']],
  ['broadcast', ['255.255.255.255/32']],
  ['reserved', ['192.0.0.0/24', '240.0.0.0/4']],
  ['Teredo', ['2001::/32']],
  ['ORCHID', ['2001:10::/28', '2001:20::/28', '2001:30::/28']],
  ['discard', ['100::/64', '100:0:0:1::/64']],
  ['NAT64', ['64:ff9b::/96', '64:ff9b:1::/48']],
  ['IPv4-mapped', ['::ffff:0:0/96']],
  ['IPv4-translated', ['::ffff:0:0:0/96']],
  ['IPv4-compatible', ['::/96']],
  // The protocol assignments not named above.
  ['reserved', ['2001::/23']],
];

const parsedRanges = ranges.flatMap(([name, cidrs]) => cidrs.map((cidr) => ({ name, cidr: ipaddr.parseCIDR(cidr) })));

/** Only this part of IPv6 has been handed out for the public internet. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/** The class of an address, as it is written: an IPv6 address that carries an IPv4 one keeps its own class. */
export function classOf(address: Address): AddressClass {
  const found = parsedRanges.find(({ cidr }) => within(address, cidr));
  if (found !== undefined) return found.name;
  if (address.kind() === 'ipv6' && !within(address, globalUnicast)) return 'reserved';
  // The library's own table is a second opinion, for ranges that are assigned later.
  return address.range() === 'unicast' ? 'global' : 'reserved';
}

/** Whether an address lies in a range; addresses of the other family never do. */
export function within(address: Address, range: readonly [Address, number]): boolean {
  const [base, bits] = range;
  return address.kind() === base.kind() && address.match(base, bits);
}

/** The IPv4 address that an IPv6 address of a transition mechanism stands for, if it is one. */
export function embeddedIPv4(address: Address): ipaddr.IPv4 | undefined {
  if (!(address instanceof ipaddr.IPv6)) return undefined;
  const bytes = address.toByteArray();
  switch (classOf(address)) {
    case 'IPv4-mapped':
    case 'IPv4-compatible':
    case 'IPv4-translated':
    case 'NAT64':
      return new ipaddr.IPv4(bytes.slice(12));
    case '6to4':
      return new ipaddr.IPv4(bytes.slice(2, 6));
    case 'Teredo':
      // RFC 4380: the client's address stands inverted at the end.
      return new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 0xff));
    default:
      return undefined;
  }
}

/** The last 32 bits of an IPv6 address: where NAT64 with a network's own prefix puts the IPv4 address. */
export function lowIPv4(address: Address): ipaddr.IPv4 | undefined {
  return address instanceof ipaddr.IPv6 ? new ipaddr.IPv4(address.toByteArray().slice(12)) : undefined;
}

/** An address in any family's spelling, without the brackets of a URL; undefined when it is none. */
export function parseAddress(text: string): Address | undefined {
  // Not ipaddr.isValid alone: it reads `010.0.0.1` as octal and `1` as an address, while resolvers may not.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (!text.includes(':')) return undefined;
  const hexadecimal = withoutDottedTail(text);
  return ipaddr.IPv6.isValid(hexadecimal) ? ipaddr.IPv6.parse(hexadecimal) : undefined;
}

/** The library takes `::127.0.0.1` for the mapped `::ffff:127.0.0.1`; in hexadecimal the two are told apart. */
function withoutDottedTail(text: string): string {
  if (!text.includes('.') || !URL.canParse(`http://[${text}]`)) return text;
  return new URL(`http://[${text}]`).hostname.slice(1, -1);
}
