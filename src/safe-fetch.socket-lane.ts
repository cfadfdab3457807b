import type { Client } from 'undici';
import type { OutboundError } from './outbound-error.js';
import type { CheckedConnector } from './safe-fetch.connector.js';
import { OutboundSocket, type SocketKeeper } from './safe-fetch.outbound-socket.js';
import { untilAborted } from './safe-fetch.until-aborted.js';
import { Slots } from './slots.js';

/** More than this in line for one lane are refused; more than all calls that Warren accepts at once. */
const MOST_WAITING = 20_000;

/**
 * The sockets of one owner to one origin, for one kind of request. Whoever sends holds a place and an open socket before
 * anything else happens, so that nothing slow stands between a permission and its write, and so that nobody waits for a
 * socket who was permitted already.
 */
export class SocketLane implements SocketKeeper {
  /** In the order of their last use. */
  private readonly idle = new Set<OutboundSocket>();
  /** Each with what gives its place back. */
  private readonly placed = new Map<OutboundSocket, () => void>();
  private readonly places: Slots;

  /** At most `bound` sockets, idle ones included. `onUnused` is called when there is neither a socket nor a request. */
  constructor(
    private readonly url: URL,
    private readonly bound: number,
    private readonly connector: CheckedConnector,
    private readonly options: Client.Options,
    private readonly onUnused: () => void,
  ) {
    this.places = new Slots(bound, MOST_WAITING);
  }

  /** Waits for a place, then for an open socket. Errors: the signal's reason, `LineTooLong`, and those of a dial. */
  async take(signal: AbortSignal, fresh: boolean): Promise<OutboundSocket> {
    const release = await this.place(signal);
    const kept = fresh ? undefined : [...this.idle].at(-1);
    if (kept !== undefined) {
      this.idle.delete(kept);
      this.placed.set(kept, release);
      kept.hold();
      return kept;
    }
    const opening = this.open(release, fresh);
    try {
      return await untilAborted(opening, signal);
    } catch (error) {
      // a dial that goes on without its caller keeps its place to the end
      void opening.then(
        (socket) => socket.leave(),
        () => undefined,
      );
      throw error;
    }
  }

  settled(socket: OutboundSocket): void {
    if (socket.isLost) this.idle.delete(socket);
    else if (socket.isUsed) this.idle.add(socket);
    else this.connector.keep(this.url, socket.surrender());
    this.placed.get(socket)?.();
    this.placed.delete(socket);
    this.tellIfUnused();
  }

  async close(reason: OutboundError): Promise<void> {
    await Promise.all([...this.idle, ...this.placed.keys()].map((socket) => socket.close(reason)));
  }

  private async place(signal: AbortSignal): Promise<() => void> {
    try {
      return await this.places.take('', signal);
    } catch (error) {
      this.tellIfUnused();
      throw error;
    }
  }

  private async open(release: () => void, fresh: boolean): Promise<OutboundSocket> {
    for (const socket of this.idle) {
      if (this.idle.size + this.places.inUse <= this.bound) break;
      void socket.close();
    }
    try {
      const raw = (fresh ? undefined : this.connector.takeKept(this.url)) ?? (await this.connector.open(this.url));
      const socket = new OutboundSocket(this.url.origin, raw, this.options, this);
      this.placed.set(socket, release);
      return socket;
    } catch (error) {
      release();
      this.tellIfUnused();
      throw error;
    }
  }

  private tellIfUnused(): void {
    if (this.places.inUse === 0 && this.idle.size === 0) this.onUnused();
  }
}

/** The socket of one hop: the same over all its attempts, as long as it is not lost. */
export class SocketHold {
  private held: OutboundSocket | undefined;
  private isFirst = true;

  constructor(
    private readonly lane: SocketLane,
    private readonly signal: AbortSignal,
  ) {}

  /** After a loss it is a socket dialled just now: others that were kept may be just as dead. Errors: as `take`. */
  async socket(): Promise<OutboundSocket> {
    if (this.held?.isLost === false) return this.held;
    this.leave();
    const fresh = !this.isFirst;
    this.isFirst = false;
    this.held = await this.lane.take(this.signal, fresh);
    return this.held;
  }

  leave(): void {
    this.held?.leave();
    this.held = undefined;
  }
}
