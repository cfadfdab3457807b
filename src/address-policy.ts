import ipaddr from 'ipaddr.js';
import {
  type Address,
  type AddressClass,
  classOf,
  embeddedIPv4,
  lowIPv4,
  parseAddress,
  within,
} from './address-classes.js';

/** The networks an administrator opened: whole names, and ranges of addresses. */
export interface AllowedNetworks {
  hosts: ReadonlySet<string>;
  ranges: readonly (readonly [Address, number])[];
}

/** A socket that Warren itself listens on. */
export interface Listener {
  address: string;
  port: number;
}

/** Where a request is about to be dialled: the host of its URL and one address of that host. */
export interface DialTarget {
  host: string;
  address: string;
  port: number;
}

export interface AddressPolicy {
  allowed: AllowedNetworks;
  ownListeners: readonly Listener[];
}

export type RefusedClass = Exclude<AddressClass, 'global'> | 'metadata' | 'own listener';
export type AddressVerdict = { allowed: true } | { allowed: false; class: RefusedClass };

/** Cloud metadata services: they hand out credentials, so no setting opens them. */
const metadataNames: ReadonlySet<string> = new Set([
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
]);
const metadataAddresses: ReadonlySet<string> = new Set(
  [
    '169.254.169.254', // AWS, Google, Azure, Oracle, DigitalOcean and others
    '169.254.170.2', // AWS container credentials
    '169.254.170.23', // AWS pod identity
    '100.100.100.200', // Alibaba
    '192.0.0.192', // Oracle, older
    '168.63.129.16', // Azure's host agent, in a public range
    'fd00:ec2::254', // AWS
    'fd00:ec2::23', // AWS pod identity
    'fd20:ce::254', // Google
  ].map((address) => ipaddr.parse(address).toNormalizedString()),
);

/** The host of a URL as it is compared: lower case, without brackets and trailing dots. */
export function canonicalHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/gu, '')
    .replace(/\.+$/u, '');
}

export function isMetadataName(host: string): boolean {
  return metadataNames.has(canonicalHost(host));
}

/** May this address be dialled? Only global unicast, unless an administrator allowed the host or the address. */
export function judgeAddress(target: DialTarget, policy: AddressPolicy): AddressVerdict {
  const address = parseAddress(target.address);
  if (address === undefined) return refused('reserved');
  if (isMetadataName(target.host) || isMetadata(address)) return refused('metadata');
  if (isOwnListener(address, target.port, policy.ownListeners)) return refused('own listener');
  const kind = classOf(address);
  if (kind === 'global') return { allowed: true };
  if (policy.allowed.hosts.has(canonicalHost(target.host))) return { allowed: true };
  return isCovered(address, kind, policy.allowed) ? { allowed: true } : refused(kind);
}

/** Says what was refused and, where a setting can change it, which. Never the address: a name may hide it. */
export function refusalText(target: { host: string; port: number }, refusal: RefusedClass): string {
  const place = `${target.host}:${String(target.port)}`;
  if (refusal === 'metadata') return `${place} is a cloud metadata service, which is never allowed`;
  if (refusal === 'own listener') return `${place} is this server itself, which is never allowed`;
  return (
    `${place} leads to an address that is not public (${refusal}); ` +
    'an administrator can allow the host or its network with WARREN_ALLOW_PRIVATE_NETWORKS'
  );
}

/**
 * Reads `WARREN_ALLOW_PRIVATE_NETWORKS`: host names, addresses and CIDRs, separated by commas or white space. A problem
 * names the entry.
 */
export function parseAllowedNetworks(
  text: string,
): { ok: true; value: AllowedNetworks } | { ok: false; problems: string[] } {
  const hosts = new Set<string>();
  const ranges: (readonly [Address, number])[] = [];
  const problems: string[] = [];
  for (const entry of text.split(/[\s,]+/u).filter((part) => part !== '')) {
    const range = rangeOf(entry);
    if (range !== undefined) ranges.push(range);
    else if (isHostName(entry)) hosts.add(canonicalHost(new URL(`http://${entry}`).hostname));
    else problems.push(`"${entry}" is neither a host name nor an IP address nor a CIDR such as 10.0.0.0/8`);
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value: { hosts, ranges } };
}

function rangeOf(entry: string): readonly [Address, number] | undefined {
  const [base = '', bits, ...rest] = entry.split('/');
  const address = parseAddress(base.replace(/^\[(.*)\]$/u, '$1'));
  if (address === undefined || rest.length > 0) return undefined;
  const width = address.kind() === 'ipv4' ? 32 : 128;
  if (bits === undefined) return [address, width];
  return /^\d{1,3}$/u.test(bits) && Number(bits) <= width ? [address, Number(bits)] : undefined;
}

function isHostName(entry: string): boolean {
  if (/[/:@?#*%\\[\]]/u.test(entry)) return false;
  const host = URL.canParse(`http://${entry}`) ? new URL(`http://${entry}`).hostname : '';
  // A name that a URL reads as an address (`127.1`, `0x7f000001`) would never match: say so instead.
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?$/u.test(host) && parseAddress(canonicalHost(host)) === undefined;
}

function refused(kind: RefusedClass): AddressVerdict {
  return { allowed: false, class: kind };
}

/** Covered by an allowed range; for an address that carries an IPv4 one, both halves must be fit to dial. */
function isCovered(address: Address, kind: AddressClass, allowed: AllowedNetworks): boolean {
  const inRange = (candidate: Address): boolean => allowed.ranges.some((range) => within(candidate, range));
  const inner = embeddedIPv4(address);
  if (inner === undefined) return inRange(address);
  // A mapped address reaches exactly the IPv4 host, so that host's permission is enough.
  const outerAllowed = inRange(address) || (kind === 'IPv4-mapped' && inRange(inner));
  return outerAllowed && (classOf(inner) === 'global' || inRange(inner));
}

function isMetadata(address: Address): boolean {
  return [address, embeddedIPv4(address), lowIPv4(address)].some(
    (form) => form !== undefined && metadataAddresses.has(withoutZone(form)),
  );
}

/** Unspecified addresses reach loopback, so both sides count them as every loopback address. */
function isOwnListener(address: Address, port: number, listeners: readonly Listener[]): boolean {
  const forms = [address, embeddedIPv4(address)].filter((form) => form !== undefined);
  return listeners.some((listener) => {
    if (listener.port !== port) return false;
    const own = parseAddress(listener.address);
    // A listener that is not known by address may be anywhere on this machine.
    if (own === undefined) return forms.some((form) => isLocal(form));
    const ownForms = [own, embeddedIPv4(own)].filter((form) => form !== undefined);
    return forms.some((form) =>
      ownForms.some(
        (ownForm) =>
          withoutZone(form) === withoutZone(ownForm) ||
          (isLocal(form) && isLocal(ownForm) && (isUnspecified(form) || isUnspecified(ownForm))),
      ),
    );
  });
}

function isUnspecified(address: Address): boolean {
  return classOf(address) === 'unspecified';
}

function isLocal(address: Address): boolean {
  return classOf(address) === 'loopback' || isUnspecified(address);
}

function withoutZone(address: Address): string {
  return address.toNormalizedString().replace(/%.*$/u, '');
}
