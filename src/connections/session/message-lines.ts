import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { StringDecoder } from 'node:string_decoder';

/** What one line of a provider's standard output turned out to be. */
export type MessageLine =
  | { kind: 'message'; message: JSONRPCMessage }
  | { kind: 'noise' }
  /** An answer to the request `id` whose result is no object, which the protocol does not allow. */
  | { kind: 'malformed'; id: number }
  /** A line over the bound; `id` is the request it seems to answer, where its head told. */
  | { kind: 'oversize'; id: number | undefined };

/** Kept of an oversize line, to find out whom it answers. */
const OVERSIZE_HEAD_CHARACTERS = 65_536;

/**
 * Cuts a byte stream into JSON-RPC messages, one a line. A byte-order mark, CRLF and characters split over chunks are
 * fine; whatever is not a JSON-RPC object is noise; a line over `maximumCharacters` is skipped, not fatal.
 */
export class MessageLines {
  private readonly decoder = new StringDecoder('utf8');
  private parts: string[] = [];
  private length = 0;
  private oversizeHead: string | undefined;

  constructor(private readonly maximumCharacters: number) {}

  push(chunk: Buffer): MessageLine[] {
    const lines: MessageLine[] = [];
    let text = this.decoder.write(chunk);
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n')) {
      this.take(text.slice(0, end));
      const line = this.finish();
      if (line !== undefined) lines.push(line);
      text = text.slice(end + 1);
    }
    this.take(text);
    return lines;
  }

  private take(text: string): void {
    if (this.oversizeHead !== undefined) return;
    this.parts.push(text);
    this.length += text.length;
    if (this.length > this.maximumCharacters) {
      this.oversizeHead = this.parts.join('').slice(0, OVERSIZE_HEAD_CHARACTERS);
      this.parts = [];
    }
  }

  private finish(): MessageLine | undefined {
    const oversizeHead = this.oversizeHead;
    const line = this.parts
      .join('')
      .replace(/^\uFEFF/, '')
      .trim();
    this.parts = [];
    this.length = 0;
    this.oversizeHead = undefined;
    if (oversizeHead !== undefined) return { kind: 'oversize', id: idInHead(oversizeHead) };
    if (line === '') return undefined;
    return readLine(line);
  }
}

function readLine(line: string): MessageLine {
  if (!line.startsWith('{')) return { kind: 'noise' };
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { kind: 'noise' };
  }
  if (!isMessage(value)) return { kind: 'noise' };
  if (!('result' in value) || isObject(value.result)) return { kind: 'message', message: value };
  return { kind: 'malformed', id: Number(value.id) };
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A JSON-RPC 2.0 request, notification or response; a string copy of a number counts as that id. */
function isMessage(value: unknown): value is JSONRPCMessage {
  if (typeof value !== 'object' || value === null || !('jsonrpc' in value) || value.jsonrpc !== '2.0') return false;
  if ('method' in value) return typeof value.method === 'string';
  return 'id' in value && value.id !== null && ('result' in value || isErrorObject(value));
}

function isErrorObject(value: object): boolean {
  return 'error' in value && typeof value.error === 'object' && value.error !== null;
}

function idInHead(head: string): number | undefined {
  const found = /^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*"?(\d{1,15})"?\s*,/.exec(head);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}
