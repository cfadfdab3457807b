import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import { parseAddress } from './address-classes.js';
import { canonicalHost } from './address-policy.js';
import { Deadline, DeadlinePassed } from './deadline.js';
import { OutboundError } from './outbound-error.js';
import { dialFirst, secure } from './safe-fetch.dial.js';
import type { FetchLimits } from './safe-fetch.limits.js';
import { type ResolvePolicy, resolveAllowed } from './safe-fetch.resolve.js';
import { ReadySockets } from './safe-fetch.ready-sockets.js';
import { untilAborted } from './safe-fetch.until-aborted.js';

/**
 * Opens every socket of a safe fetch: resolve all addresses, refuse unless each may be dialled, dial exactly one of the
 * checked addresses, and verify TLS against the host of the URL. One resolution serves both check and dial.
 */
export class CheckedConnector {
  private readonly ready: ReadySockets;
  private readonly closing = new AbortController();

  constructor(
    private readonly policy: ResolvePolicy,
    private readonly limits: Pick<FetchLimits, 'connectMs' | 'socketsPerOrigin'>,
    private readonly authorities?: readonly string[],
  ) {
    this.ready = new ReadySockets(limits.socketsPerOrigin);
    // each dial listens while it lasts, and there may be many
    setMaxListeners(0, this.closing.signal);
  }

  /** Opens a socket ahead of the request that will take it; it is dropped when none comes within 4 s. */
  async prepare(url: URL): Promise<void> {
    this.keep(url, await this.open(url));
  }

  /** Keeps an open socket that has carried nothing for the next request to its origin, 4 s long. */
  keep(url: URL, socket: Socket | undefined): void {
    if (socket !== undefined) this.ready.put(url.origin, socket);
  }

  /** A socket that was opened ahead. */
  takeKept(url: URL): Socket | undefined {
    return this.ready.take(url.origin);
  }

  close(): void {
    this.closing.abort(shuttingDown());
    this.ready.close();
  }

  /** Errors: `OutboundError`, or one of the network. */
  async open(url: URL): Promise<Socket> {
    const host = canonicalHost(url.hostname);
    const port = portOf(url);
    // AbortSignal.any would leave a trace of every dial on `closing`, which lives as long as the process
    const deadline = new Deadline(this.limits.connectMs, this.closing.signal);
    const { signal } = deadline;
    try {
      const addresses = await untilAborted(resolveAllowed(host, port, this.policy), signal);
      const socket = await dialFirst(addresses, port, signal);
      if (url.protocol === 'http:') return socket;
      return await secure(
        socket,
        { host, isLiteral: parseAddress(host) !== undefined, authorities: this.authorities },
        signal,
      );
    } catch (error) {
      if (!(error instanceof DeadlinePassed)) throw error;
      const where = `${host}:${String(port)}`;
      const message = `${where}: not connected within ${String(error.milliseconds)} ms`;
      throw new OutboundError('connection_timeout', message);
    } finally {
      deadline.end();
    }
  }
}

export function shuttingDown(): OutboundError {
  return new OutboundError('unknown', 'the connection was given up: shutting down');
}

export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}
