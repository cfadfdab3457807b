import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { outgoingText } from '../outgoing-text.js';
import type { Redactor } from '../redactor.js';
import { McpEventStream } from './mcp.event-stream.js';
import type { McpLimits } from './mcp.limits.js';
import type { AcceptedForms } from './mcp.media-types.js';
import { errorMessage, type McpRequestId } from './mcp.message.js';

interface ReplyPlan {
  forms: AcceptedForms;
  /** Sent with every form of answer. */
  headers: OutgoingHttpHeaders;
  /** Of the request that is answered. */
  id: McpRequestId;
  limits: McpLimits;
  /** What nothing that is written may hold. */
  redactor: Redactor;
}

/** Status of an SDK response that stands for "aborted before there was an answer"; never sent. */
export const ABORTED = 499;

/**
 * Writes an SDK answer to the connection: as JSON, or as an event stream when it is one, when the client reads nothing
 * else, or when it takes so long that a proxy could give up. `answer` never rejects.
 */
export async function writeReply(raw: ServerResponse, answer: Promise<Response>, plan: ReplyPlan): Promise<void> {
  const events = new McpEventStream(raw, plan.headers, plan.limits.commentEveryMs, plan.redactor);
  const opening = plan.forms.events ? setTimeout(() => events.open(), plan.limits.openStreamAfterMs) : undefined;
  try {
    await writeResponse(raw, events, await answer, plan);
  } finally {
    clearTimeout(opening);
    events.close();
  }
}

async function writeResponse(
  raw: ServerResponse,
  events: McpEventStream,
  response: Response,
  plan: ReplyPlan,
): Promise<void> {
  const { headers, body } = response;
  const isAborted = response.status === ABORTED;
  if (isAborted && plan.forms.events) return events.open();
  if (!isAborted && body !== null && headers.get('content-type')?.startsWith('text/event-stream') === true) {
    return events.pipe(body as AsyncIterable<Uint8Array>);
  }
  const status = isAborted ? 200 : response.status;
  const text = await outgoingText(isAborted ? cancelled(plan.id) : await response.text(), plan.redactor);
  if (events.isOpen || (!plan.forms.json && status === 200)) return events.message(text);
  writeJson(raw, status, text, plan.headers);
}

/** A cancelled request gets no response message; a client that reads no event stream gets this error in its place. */
function cancelled(id: McpRequestId): string {
  return JSON.stringify(errorMessage({ code: -32_000, message: 'The request was cancelled.' }, id));
}

function writeJson(raw: ServerResponse, status: number, text: string, headers: OutgoingHttpHeaders): void {
  if (raw.destroyed) return;
  raw.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(text),
  });
  raw.end(text);
}
