import { request } from 'node:http';

export interface RawAnswer {
  status: number;
  contentType: string;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/**
 * One HTTP request with exactly these headers (`fetch` writes its own Host) and exactly this path. Resolves when the
 * answer has ended; an event stream is left after its head.
 */
export function rawRequest(
  origin: string,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers, agent: false }, (response) => {
      const contentType = response.headers['content-type'] ?? '';
      let text = '';
      const done = (): void =>
        resolve({ status: response.statusCode ?? 0, contentType, headers: response.headers, text });
      if (contentType.startsWith('text/event-stream')) {
        done();
        sent.destroy();
        return;
      }
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.once('end', done);
      response.once('error', reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}
