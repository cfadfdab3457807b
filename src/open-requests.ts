import type { Server } from 'node:http';

/** Counts the requests a server has not answered yet, however they are answered. */
export class OpenRequests {
  private open = 0;
  private waiting: (() => void)[] = [];

  constructor(private readonly server: Server) {
    server.on('request', (_request, response) => {
      this.open += 1;
      response.once('close', () => {
        this.open -= 1;
        if (this.open > 0) return;
        for (const resolve of this.waiting.splice(0)) resolve();
      });
    });
  }

  /** Resolves when every request is answered. */
  none(): Promise<void> {
    return this.open === 0 ? Promise.resolve() : new Promise((resolve) => this.waiting.push(resolve));
  }

  /**
   * Ends every connection: idle ones, those that never carried a request, and those of callers who waited too long;
   * those, too, that come before the server has closed, which it would wait for.
   */
  cutConnections(): void {
    this.server.on('connection', (socket) => socket.destroy());
    this.server.closeAllConnections();
  }
}
