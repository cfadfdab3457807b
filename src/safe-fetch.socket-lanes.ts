import type { Client } from 'undici';
import { OutboundError } from './outbound-error.js';
import type { CheckedConnector } from './safe-fetch.connector.js';
import type { ReplayableRequest } from './safe-fetch.request.js';
import { SocketLane } from './safe-fetch.socket-lane.js';

/** Whose sockets they are: another owner's requests never wait for them. Equal texts and the same object are one owner. */
export type SocketOwner = string | object;

/** Event streams last as long as a session, so calls must not wait for their sockets. */
type LaneKind = 'exchanges' | 'streams';

/** Every lane that holds a socket or a request; one that holds neither is forgotten. */
export class SocketLanes {
  private readonly owners = new Map<SocketOwner, Map<string, SocketLane>>();

  constructor(
    private readonly connector: CheckedConnector,
    private readonly bounds: Record<LaneKind, number>,
    private readonly options: Client.Options,
  ) {}

  /** How many there are, over all owners. */
  get count(): number {
    return [...this.owners.values()].reduce((sum, lanes) => sum + lanes.size, 0);
  }

  of(owner: SocketOwner, url: URL, request: ReplayableRequest): SocketLane {
    const kind: LaneKind = asksForStream(request) ? 'streams' : 'exchanges';
    const key = `${kind} ${url.origin}`;
    const lanes = this.owners.get(owner) ?? new Map<string, SocketLane>();
    const found = lanes.get(key);
    if (found !== undefined) return found;
    const created = new SocketLane(new URL(url.origin), this.bounds[kind], this.connector, this.options, () => {
      if (lanes.get(key) === created) lanes.delete(key);
      if (lanes.size === 0 && this.owners.get(owner) === lanes) this.owners.delete(owner);
    });
    lanes.set(key, created);
    this.owners.set(owner, lanes);
    return created;
  }

  async release(owner: SocketOwner): Promise<void> {
    const reason = new OutboundError('http_error', 'the session of this request has ended');
    await Promise.all([...(this.owners.get(owner)?.values() ?? [])].map((lane) => lane.close(reason)));
  }

  async close(reason: OutboundError): Promise<void> {
    const lanes = [...this.owners.values()].flatMap((owned) => [...owned.values()]);
    await Promise.all(lanes.map((lane) => lane.close(reason)));
  }
}

function asksForStream({ method, headers }: ReplayableRequest): boolean {
  const accept = headers.find(([name]) => name === 'accept')?.[1] ?? '';
  return method.toUpperCase() === 'GET' && accept.toLowerCase().includes('text/event-stream');
}
