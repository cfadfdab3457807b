import type { Socket } from 'node:net';

/** An opened socket that no request took is dropped after this long; providers drop silent ones soon as well. */
const keptMs = 4_000;

interface ReadySocket {
  socket: Socket;
  timer: NodeJS.Timeout;
  /** Ends the socket when the other side speaks first, which no HTTP server does. */
  onData: () => void;
}

/** Connected sockets that wait for the next request to their origin, oldest first. */
export class ReadySockets {
  private readonly byOrigin = new Map<string, ReadySocket[]>();
  private closed = false;

  constructor(private readonly keptPerOrigin: number) {}

  count(origin: string): number {
    return this.byOrigin.get(origin)?.length ?? 0;
  }

  put(origin: string, socket: Socket): void {
    const waiting = this.byOrigin.get(origin) ?? [];
    if (this.closed || waiting.length >= this.keptPerOrigin || socket.destroyed) {
      socket.destroy();
      return;
    }
    const entry: ReadySocket = {
      socket,
      timer: setTimeout(() => socket.destroy(), keptMs).unref(),
      onData: () => socket.destroy(),
    };
    this.byOrigin.set(origin, [...waiting, entry]);
    // Reading while it waits is how a close by the other side is noticed.
    socket.on('data', entry.onData);
    socket.resume();
    socket.once('close', () => {
      this.remove(origin, entry);
    });
  }

  take(origin: string): Socket | undefined {
    const entry = this.byOrigin.get(origin)?.[0];
    if (entry === undefined) return undefined;
    this.remove(origin, entry);
    entry.socket.off('data', entry.onData);
    entry.socket.pause();
    return entry.socket.destroyed || !entry.socket.writable ? this.take(origin) : entry.socket;
  }

  close(): void {
    this.closed = true;
    for (const entry of [...this.byOrigin.values()].flat()) entry.socket.destroy();
  }

  private remove(origin: string, entry: ReadySocket): void {
    clearTimeout(entry.timer);
    const left = (this.byOrigin.get(origin) ?? []).filter((other) => other !== entry);
    if (left.length > 0) this.byOrigin.set(origin, left);
    else this.byOrigin.delete(origin);
  }
}
