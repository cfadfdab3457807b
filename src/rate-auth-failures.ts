import ipaddr from 'ipaddr.js';
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { RateBuckets } from './rate-buckets.js';

/** Addresses with failures that are remembered, and tokens that were let in; each takes some hundred bytes. */
const MOST_ADDRESSES = 20_000;
const MOST_TOKENS = 20_000;
/** How long a token counts as known at the address it was let in from, milliseconds. */
const KNOWN_MS = 3_600_000;
/** Whoever has one IPv6 address has all of its network. */
const IPV6_NETWORK_PARTS = 4;

/**
 * Bounds the failed authentications of each address. An address over its bound has no token looked up any more, right
 * or wrong, until time has passed; only tokens that were let in from that very address within the last hour are still
 * looked at, so that a stranger behind the same address shuts nobody out. Looked at means checked in full: this is no
 * cache of "allowed".
 */
export class AuthFailures {
  private readonly failures: RateBuckets;
  private readonly known = new LRUCache<string, true>({ max: MOST_TOKENS, ttl: KNOWN_MS });

  /** `perMinute` failures at once, and again each minute. */
  constructor(perMinute: number) {
    this.failures = new RateBuckets(perMinute, perMinute / 60, MOST_ADDRESSES);
  }

  /** Milliseconds until this token of this address may be looked at; 0 when it may now. */
  waitMs(address: string | undefined, token: string): number {
    const network = networkOf(address);
    const wait = this.failures.waitMs(network);
    return wait > 0 && this.known.has(pairOf(network, token)) ? 0 : wait;
  }

  /** Counts one failure. Those that are looked up at the same moment may pass the bound together. */
  failed(address: string | undefined): void {
    this.failures.spend(networkOf(address));
  }

  succeeded(address: string | undefined, token: string): void {
    this.known.set(pairOf(networkOf(address), token), true);
  }
}

/** What one stranger can be expected to send from: an IPv4 address, or the /64 network of an IPv6 one. */
export function networkOf(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return (parsed as ipaddr.IPv6).parts.slice(0, IPV6_NETWORK_PARTS).join(':');
}

function pairOf(network: string, token: string): string {
  return createHash('sha256').update(`${network} ${token}`).digest('base64url');
}
