import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { problemCatalogue, type ProblemCode } from './errors.js';

const CODES: Record<string, ProblemCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** Answers what never became a request, and ends its connection: headers that are too large, too slow or unreadable. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const code = CODES[error.code ?? ''] ?? 'malformed_request';
  if (socket.writable) socket.write(answerOf(code));
  socket.destroy();
}

function answerOf(code: ProblemCode): string {
  const { status, title } = problemCatalogue[code];
  const requestId = randomUUID();
  const body = JSON.stringify({
    type: `urn:warren:problem:${code}`,
    title,
    status,
    code,
    detail: `${title}.`,
    requestId,
  });
  return [
    `HTTP/1.1 ${status} ${title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
