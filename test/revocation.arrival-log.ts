import { open } from 'node:fs/promises';
import { get } from 'node:http';

/** A call as a provider process saw it come in. */
export interface Arrival {
  /** `arguments.n` of the call. */
  number: number;
  process: number;
  /** Line of the log at which its first bytes were there. */
  position: number;
}

/** What the provider processes had received when they were asked, after a revocation was acknowledged. */
export interface Mark {
  /** Processes that had started by then. */
  known: ReadonlySet<number>;
  /** Of those, the ones that answered, with the line of the log at which they did; the others were ending. */
  positions: ReadonlyMap<number, number>;
}

interface Line {
  pid: number;
  started?: number;
  head?: number;
  arrived?: number;
  cancelled?: number;
  marker?: string;
}

/** Reads what the arrival providers write down, and asks them for marks. */
export class ArrivalLog {
  readonly arrivals: Arrival[] = [];
  /** Numbers of the calls whose end the provider was told. */
  readonly cancelled = new Set<number>();
  private readonly ports = new Map<number, number>();
  private readonly known = new Set<number>();
  private readonly heads = new Map<string, number>();
  private readonly markers = new Map<string, number>();
  private offset = 0;
  private rest = '';
  private lines = 0;
  private marks = 0;

  constructor(readonly path: string) {}

  /** The port of the process with this id, once it has started. */
  portOf(pid: number): number | undefined {
    return this.ports.get(pid);
  }

  /** Takes in what was appended since the last time. */
  async read(): Promise<void> {
    const file = await open(this.path, 'a+');
    try {
      const { size } = await file.stat();
      const buffer = Buffer.alloc(Math.max(0, size - this.offset));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, this.offset);
      this.offset += bytesRead;
      const lines = (this.rest + buffer.toString('utf8', 0, bytesRead)).split('\n');
      this.rest = lines.pop() ?? '';
      for (const line of lines) this.take(JSON.parse(line) as Line);
    } finally {
      await file.close();
    }
  }

  /**
   * Asks every living provider process to note that it was asked now. A process reads what is ready in the order in
   * which it became ready, and the asking comes on a new connection, so whatever was in its pipe or sockets before is
   * noted before. The first round only gives the kernel time to deliver what is still on the way over loopback.
   */
  async mark(): Promise<Mark> {
    await this.read();
    const known = new Set(this.known);
    this.marks += 1;
    const [warmUp, counted] = [`w${this.marks}`, `m${this.marks}`];
    await Promise.all(
      [...this.ports].map(async ([pid, port]) => {
        const alive = (await ask(port, warmUp)) && (await ask(port, counted));
        if (!alive) this.ports.delete(pid);
      }),
    );
    await this.read();
    const positions = new Map<number, number>();
    for (const pid of known) {
      const position = this.markers.get(`${pid} ${counted}`);
      if (position !== undefined) positions.set(pid, position);
    }
    return { known, positions };
  }

  private take({ pid, started, head, arrived, cancelled, marker }: Line): void {
    this.lines += 1;
    if (started !== undefined) {
      this.ports.set(pid, started);
      this.known.add(pid);
    } else if (arrived !== undefined) {
      const position = head === undefined ? this.lines : (this.heads.get(`${pid} ${head}`) ?? this.lines);
      this.arrivals.push({ number: arrived, process: pid, position });
    } else if (cancelled !== undefined) this.cancelled.add(cancelled);
    else if (marker !== undefined) this.markers.set(`${pid} ${marker}`, this.lines);
    else if (head !== undefined) this.heads.set(`${pid} ${head}`, this.lines);
  }
}

/** False when the process is gone or going. */
function ask(port: number, marker: string): Promise<boolean> {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path: `/marker/${marker}`, agent: false }, (response) => {
      response.resume().on('close', () => resolve(response.statusCode === 204));
    }).on('error', () => resolve(false));
  });
}
