import { fetch as undiciFetch, type Response as UndiciResponse } from 'undici';
import { parseAddress } from './address-classes.js';
import { type AllowedNetworks, canonicalHost, type Listener } from './address-policy.js';
import { type DispatchGate, gateOf } from './dispatch-gate.js';
import { displayUrl } from './display-url.js';
import { classifyOutboundError, OutboundError, type OutboundSent } from './outbound-error.js';
import { AdmissionRefused, sendAdmitted } from './safe-fetch.admission.js';
import { CheckedConnector, portOf, shuttingDown } from './safe-fetch.connector.js';
import { HopDispatcher } from './safe-fetch.exchange.js';
import { defaultFetchLimits, type FetchLimits } from './safe-fetch.limits.js';
import { sendOverLostSockets } from './safe-fetch.lost-socket.js';
import { redirectTarget } from './safe-fetch.redirects.js';
import { outboundUrl, type ReplayableRequest, replayableRequest } from './safe-fetch.request.js';
import { type Lookup, lookupAll, resolveAllowed, type ResolvePolicy } from './safe-fetch.resolve.js';
import { limitedResponse } from './safe-fetch.response.js';
import type { OutboundSocket } from './safe-fetch.outbound-socket.js';
import { SocketHold } from './safe-fetch.socket-lane.js';
import { SocketLanes, type SocketOwner } from './safe-fetch.socket-lanes.js';
import type { WriteWatch } from './safe-fetch.write-watch.js';

export interface SafeFetchOptions {
  allowedNetworks: AllowedNetworks;
  /** Warren's own listening sockets, asked at each dial. */
  ownListeners: () => readonly Listener[];
  lookup?: Lookup;
  /** Certificates (PEM) trusted in place of the system's, for a network with an authority of its own. */
  authorities?: readonly string[];
  limits?: Partial<FetchLimits>;
}

/** One call of `fetch`, over all its hops. */
interface Errand {
  owner: SocketOwner;
  request: ReplayableRequest;
  signal: AbortSignal | undefined;
  gate: DispatchGate | undefined;
  /** Becomes `maybe` with the first byte of any hop. */
  sent: OutboundSent;
}

/**
 * The one way out over HTTP. It dials only addresses that the address policy allows, follows only redirects within the
 * origin, bounds everything that comes back, keeps no cookies and knows no proxies. Failures are OutboundErrors; the
 * caller's own abort comes back as `signal.reason`, and a refused admission as what `admit` rejected with.
 */
export class SafeFetch {
  private readonly limits: FetchLimits;
  private readonly policy: ResolvePolicy;
  private readonly connector: CheckedConnector;
  private readonly lanes: SocketLanes;

  constructor(options: SafeFetchOptions) {
    this.limits = { ...defaultFetchLimits, ...options.limits };
    const { allowedNetworks, ownListeners, lookup = lookupAll } = options;
    this.policy = { allowedNetworks, ownListeners, lookup };
    this.connector = new CheckedConnector(this.policy, this.limits, options.authorities);
    const { socketsPerOrigin, streamsPerOrigin } = this.limits;
    this.lanes = new SocketLanes(
      this.connector,
      { exchanges: socketsPerOrigin, streams: streamsPerOrigin },
      {
        pipelining: 1,
        allowH2: false,
        maxHeaderSize: this.limits.headerBytes,
        headersTimeout: this.limits.headersMs,
        bodyTimeout: this.limits.idleMs,
        // a server may allow it for hours, and each idle socket counts on both sides
        keepAliveMaxTimeout: this.limits.keepAliveMs,
      },
    );
  }

  /**
   * Has the signature of the standard `fetch` and is bound, so that it can be handed over as one. Redirects within the
   * origin are followed here, whatever `init.redirect` says, except that `error` refuses them.
   */
  readonly fetch = (input: string | URL, init: RequestInit = {}): Promise<Response> => this.run('', input, init);

  /** The same with sockets of the owner's own, so that no other owner's requests keep it waiting, nor it theirs. */
  fetchFor(owner: SocketOwner): (input: string | URL, init?: RequestInit) => Promise<Response> {
    return (input, init = {}) => this.run(owner, input, init);
  }

  /** Closes the owner's sockets, and fails what runs on them. */
  async release(owner: SocketOwner): Promise<void> {
    await this.lanes.release(owner);
  }

  /** To how many origins there are sockets or requests, counted for each owner and kind of request. */
  get openLanes(): number {
    return this.lanes.count;
  }

  private async run(owner: SocketOwner, input: string | URL, init: RequestInit): Promise<Response> {
    const signal = init.signal ?? undefined;
    signal?.throwIfAborted();
    let url = outboundUrl(input);
    const request = replayableRequest(init);
    const gate = request.body === null ? undefined : gateOf(request.body.toString());
    const errand: Errand = { owner, request, signal, gate, sent: 'no' };
    try {
      for (let followed = 0; ; followed += 1) {
        const answer = await this.hop(url, errand);
        const at = url;
        const described = { url: at, redirected: followed > 0, bodyBytes: this.limits.bodyBytes };
        const target = await nextHop(answer, at, followed, init.redirect);
        if (target === undefined) {
          return await limitedResponse(answer, described, (error) => translated(error, at, 'maybe', signal));
        }
        url = target;
      }
    } catch (error) {
      throw translated(error, url, errand.sent, signal);
    }
  }

  /** Resolves a host and checks every address, without dialling: the addresses a request would be sent to. */
  async resolve(input: string | URL): Promise<readonly string[]> {
    const url = outboundUrl(input);
    return resolveAllowed(url.hostname, portOf(url), this.policy);
  }

  /** Opens a checked socket, with TLS where the URL says so, for a request that follows within 4 s. */
  async warm(input: string | URL): Promise<void> {
    const url = outboundUrl(input);
    try {
      await this.connector.prepare(url);
    } catch (error) {
      throw translated(error, url, 'no', undefined);
    }
  }

  /** Ends every socket and fails what is under way. */
  async close(): Promise<void> {
    this.connector.close();
    await this.lanes.close(shuttingDown());
  }

  private async hop(url: URL, errand: Errand): Promise<UndiciResponse> {
    // A literal is judged before anything else, so that its refusal has the right reason even on a port fetch forbids.
    const isLiteral = parseAddress(canonicalHost(url.hostname)) !== undefined;
    if (isLiteral) await resolveAllowed(url.hostname, portOf(url), this.policy);
    const lane = this.lanes.of(errand.owner, url, errand.request);
    const hold = new SocketHold(lane, errand.signal ?? new AbortController().signal);
    const openSocket = async (): Promise<OutboundSocket> => {
      const socket = await hold.socket();
      // admission takes its time
      socket.watch();
      return socket;
    };
    const send = (socket: OutboundSocket, watch: WriteWatch): Promise<UndiciResponse> =>
      this.send(url, errand, socket, watch);
    try {
      return errand.gate === undefined
        ? await sendOverLostSockets(async (watch) => send(await hold.socket(), watch))
        : await sendAdmitted(errand.gate, errand.signal, { openSocket, send });
    } finally {
      hold.leave();
    }
  }

  private send(url: URL, errand: Errand, socket: OutboundSocket, watch: WriteWatch): Promise<UndiciResponse> {
    const { method, headers, body } = errand.request;
    const noting: WriteWatch = {
      beforeFirstByte: () => {
        watch.beforeFirstByte();
        errand.sent = 'maybe';
      },
      afterLastByte: () => {
        watch.afterLastByte();
      },
    };
    return undiciFetch(url, {
      method,
      headers,
      body,
      redirect: 'manual',
      signal: errand.signal ?? null,
      dispatcher: new HopDispatcher(socket, body, this.limits.headerCount, noting),
    });
  }
}

/** Where to go from here, if this answer is a redirect; its body is not read. */
async function nextHop(
  answer: UndiciResponse,
  from: URL,
  followed: number,
  mode: RequestInit['redirect'],
): Promise<URL | undefined> {
  try {
    const target = redirectTarget(answer.status, answer.headers.get('location'), from, followed);
    if (target === undefined) return undefined;
    if (mode === 'error') {
      throw new OutboundError('redirect_refused', `${displayUrl(from)} redirects, which is refused here`, 'maybe');
    }
    await answer.body?.cancel();
    return target;
  } catch (error) {
    await answer.body?.cancel().catch(() => undefined);
    throw error;
  }
}

function translated(error: unknown, url: URL, sent: OutboundSent, signal: AbortSignal | undefined): Error {
  if (error instanceof AdmissionRefused) return error.refusal;
  if (signal?.aborted === true) return signal.reason as Error;
  return classifyOutboundError(error, sent, displayUrl(url));
}
