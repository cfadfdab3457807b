import { Pool } from 'undici';
import type { CheckedConnector } from './safe-fetch.connector.js';

/**
 * Sees to it that a guarded request finds an open socket when its admission is granted, by opening one beforehand unless
 * enough idle ones are there for all guarded requests that wait.
 */
export class SocketSupply {
  private readonly pools = new Map<string, Pool>();
  /** Guarded requests per origin that were promised a socket and have not been written. */
  private readonly claims = new Map<string, number>();

  constructor(
    private readonly connector: CheckedConnector,
    private readonly socketsPerOrigin: number,
  ) {}

  /** For undici's agent, which then asks this pool for every request to the origin. */
  openPool(origin: string, options: Pool.Options): Pool {
    for (const [key, pool] of this.pools) if (pool.closed || pool.destroyed) this.pools.delete(key);
    const pool = new Pool(origin, options);
    this.pools.set(origin, pool);
    return pool;
  }

  claim(url: URL): SocketClaim {
    return new SocketClaim(
      () => this.ensure(url),
      (change) => {
        const count = (this.claims.get(url.origin) ?? 0) + change;
        if (count > 0) this.claims.set(url.origin, count);
        else this.claims.delete(url.origin);
      },
    );
  }

  private async ensure(url: URL): Promise<void> {
    const { free, connected } = this.pools.get(url.origin)?.stats ?? { free: 0, connected: 0 };
    const ready = this.connector.readyCount(url.origin);
    const isSupplied = free + ready >= (this.claims.get(url.origin) ?? 0);
    // At the bound a request waits for a socket of another one, whose admission may have to be asked for again.
    if (!isSupplied && connected + ready < this.socketsPerOrigin) await this.connector.prepare(url);
  }
}

/** One guarded request's place among those that wait for a socket; `release` once it is written or has failed. */
export class SocketClaim {
  private isHeld = false;

  constructor(
    private readonly ensure: () => Promise<void>,
    private readonly count: (change: 1 | -1) => void,
  ) {}

  async socket(): Promise<void> {
    if (!this.isHeld) {
      this.isHeld = true;
      this.count(1);
    }
    await this.ensure();
  }

  release(): void {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.count(-1);
  }
}
