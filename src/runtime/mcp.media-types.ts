import { isJsonContentType } from '@modelcontextprotocol/server';

/** The forms of answer a client can read. */
export interface AcceptedForms {
  json: boolean;
  events: boolean;
}

/** Whether a request body is declared as JSON, parameters such as a character set aside. */
export function isJsonBody(contentType: string | undefined): boolean {
  return isJsonContentType(contentType ?? null);
}

/**
 * Reads `Accept`. The protocol asks clients to name both forms, but many send only JSON, a wildcard or nothing, and can
 * read JSON all the same. An event stream is sent only to those who named it.
 */
export function acceptedForms(accept: string | undefined): AcceptedForms {
  const types = (accept ?? '*/*')
    .split(',')
    .filter((entry) => !/;\s*q=0(\.0*)?\s*$/i.test(entry))
    .map((entry) => entry.split(';', 1)[0]?.trim().toLowerCase() ?? '');
  const events = types.some((type) => type === 'text/event-stream' || type === 'text/*');
  const json = types.some((type) => type === 'application/json' || type === 'application/*' || type === '*/*');
  return { json: json || !events, events };
}
