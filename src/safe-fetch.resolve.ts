import { networkInterfaces } from 'node:os';
import { lookup as systemLookup } from 'node:dns/promises';
import { parseAddress } from './address-classes.js';
import {
  type AddressPolicy,
  type AllowedNetworks,
  type Listener,
  type RefusedClass,
  canonicalHost,
  isMetadataName,
  judgeAddress,
  refusalText,
} from './address-policy.js';
import { classifyOutboundError, OutboundError } from './outbound-error.js';

export interface ResolvedAddress {
  address: string;
  family: number;
}

/** Resolves a host name to all its addresses, or rejects. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export const lookupAll: Lookup = (hostname) => systemLookup(hostname, { all: true, verbatim: true });

/** More than any honest name has; all are checked, the first few are dialled. */
const maximumAddresses = 256;
const maximumDialled = 8;

/** RFC 6761: these names mean loopback, whatever a resolver says. */
const loopback = ['127.0.0.1', '::1'];

export interface ResolvePolicy {
  allowedNetworks: AllowedNetworks;
  ownListeners: () => readonly Listener[];
  lookup: Lookup;
}

/**
 * The addresses of a host that may be dialled, checked. A name with a single address that is not allowed is refused as
 * a whole: which of its addresses would be dialled is the attacker's choice.
 */
export async function resolveAllowed(host: string, port: number, policy: ResolvePolicy): Promise<readonly string[]> {
  const name = canonicalHost(host);
  const addressPolicy = addressPolicyOf(policy);
  const judge = (address: string): RefusedClass | undefined => {
    const verdict = judgeAddress({ host: name, address, port }, addressPolicy);
    return verdict.allowed ? undefined : verdict.class;
  };
  const refuse = (refusal: RefusedClass): never => {
    throw new OutboundError('egress_denied', refusalText({ host: name, port }, refusal));
  };

  if (parseAddress(name) !== undefined) {
    const refusal = judge(name);
    return refusal === undefined ? [name] : refuse(refusal);
  }
  if (isMetadataName(name)) return refuse('metadata');
  if (name === 'localhost' || name.endsWith('.localhost')) {
    // These are our own choice, so one of them being closed need not close the other.
    const open = loopback.filter((address) => judge(address) === undefined);
    return open.length > 0 ? open : refuse(judge('127.0.0.1') ?? 'loopback');
  }
  const addresses = await lookup(name, port, policy.lookup);
  for (const address of addresses) {
    const refusal = judge(address);
    if (refusal !== undefined) return refuse(refusal);
  }
  return addresses.slice(0, maximumDialled);
}

async function lookup(name: string, port: number, resolver: Lookup): Promise<readonly string[]> {
  const place = `${name}:${String(port)}`;
  let found: readonly ResolvedAddress[];
  try {
    found = await resolver(name);
  } catch (error) {
    const known = classifyOutboundError(error, 'no', place);
    throw known.reason === 'dns_failed' ? known : new OutboundError('dns_failed', `${place}: name resolution failed`);
  }
  if (found.length === 0) throw new OutboundError('dns_failed', `${place}: the name has no address`);
  if (found.length > maximumAddresses) throw new OutboundError('dns_failed', `${place}: too many addresses`);
  return found.map(({ address }) => address);
}

/** A listener on every address is written out, so that the policy can compare addresses only. */
function addressPolicyOf(policy: ResolvePolicy): AddressPolicy {
  const ownListeners: Listener[] = [];
  for (const listener of policy.ownListeners()) {
    ownListeners.push(listener);
    if (listener.address !== '0.0.0.0' && listener.address !== '::') continue;
    for (const address of ownAddresses()) ownListeners.push({ address, port: listener.port });
  }
  return { allowed: policy.allowedNetworks, ownListeners };
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));
}
