import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { FaultConnection, type Exchange, type ExchangeFault } from './fault-connection.js';

/** A fault that waits for its exchange. */
export class ArmedFault {
  /** The exchanges it has fired on. */
  readonly fired: Exchange[] = [];
  /** Resolves when it fires for the first time. */
  readonly firing: Promise<void>;
  private onFire: () => void = () => undefined;

  constructor(
    readonly fault: ExchangeFault,
    /** The fault is for a request that holds this text, in its head or body. */
    private readonly marker: string,
    private readonly times: number,
  ) {
    this.firing = new Promise((resolve) => (this.onFire = resolve));
  }

  /** Fires if this request is meant. */
  strikes(request: string, exchange: Exchange): boolean {
    if (this.fired.length >= this.times || !request.includes(this.marker)) return false;
    this.fired.push(exchange);
    this.onFire();
    return true;
  }
}

/** A TCP proxy before an HTTP provider: passes everything on, except where it was told to do harm. */
export class FaultProxy {
  private readonly server: Server;
  private readonly connections = new Set<FaultConnection>();
  private readonly armed = new Set<ArmedFault>();
  private port = 0;
  /** Connections it has accepted. */
  accepted = 0;

  constructor(private readonly targetPort: number) {
    this.server = createServer({ noDelay: true }, (client) => {
      this.accepted += 1;
      const connection = new FaultConnection(client, this.targetPort, (request, exchange) => {
        return [...this.armed].find((armed) => armed.strikes(request, exchange))?.fault;
      });
      this.connections.add(connection);
      client.once('close', () => this.connections.delete(connection));
    });
  }

  /** Starts to listen, at the same port each time. Resolves with the origin. */
  async open(): Promise<string> {
    await once(this.server.listen(this.port, '127.0.0.1'), 'listening');
    this.port = (this.server.address() as AddressInfo).port;
    return `http://127.0.0.1:${this.port}`;
  }

  /** Lets a fault happen to the next exchanges whose request holds `marker`, `times` of them. */
  arm(fault: ExchangeFault, marker: string, times = 1): ArmedFault {
    const armed = new ArmedFault(fault, marker, times);
    this.armed.add(armed);
    return armed;
  }

  disarm(fault: ArmedFault): void {
    this.armed.delete(fault);
  }

  /** Refuses connections until `open`; an exchange under way goes on. */
  async refuse(): Promise<void> {
    this.server.close();
    await this.closeIdle();
  }

  /**
   * Closes the connections on which no answer is waited for, as a provider does with those that were silent for long;
   * or, of these, only the ones that were used. Resolves with their number, when they are gone.
   */
  async closeIdle(how: 'end' | 'reset' = 'end', which: 'all' | 'used' = 'all'): Promise<number> {
    const idle = [...this.connections].filter(({ isIdle, isKept }) => (which === 'all' ? isIdle : isKept));
    await Promise.all(idle.map((connection) => connection.close(how)));
    return idle.length;
  }

  async stop(): Promise<void> {
    this.server.close();
    await Promise.all([...this.connections].map((connection) => connection.close('reset')));
  }
}
