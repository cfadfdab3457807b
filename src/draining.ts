import type { Server } from 'node:http';

/**
 * The connections of an HTTP server on its way out. Node keeps one open after its answer for as long as the client may
 * reuse it, and the server would wait for that; from `drain()` on each ends with the answer it waits for.
 */
export class Draining {
  private active = false;

  constructor(server: Server) {
    server.on('request', (request, response) => {
      response.once('finish', () => {
        if (this.active) request.socket.end();
      });
    });
  }

  drain(): void {
    this.active = true;
  }
}
