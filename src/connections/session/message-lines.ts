import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { StringDecoder } from 'node:string_decoder';
import { membersInHead, membersInTail } from './message-members.js';
import { readMessage } from './read-message.js';

/** What one line of a provider's standard output turned out to be. */
export type MessageLine =
  | { kind: 'message'; message: JSONRPCMessage }
  | { kind: 'noise' }
  /** An answer to the request `id` that is of no form. */
  | { kind: 'malformed'; id: string | number }
  /** An answer over the bound; `id` is the request it answers, where its head or its end told. */
  | { kind: 'oversize'; id: number | undefined };

/** Kept of both ends of an oversize line, to find out whom it answers. */
const OVERSIZE_HEAD_CHARACTERS = 65_536;
const OVERSIZE_TAIL_CHARACTERS = 200;

/**
 * Cuts a byte stream into JSON-RPC messages, one a line. A byte-order mark, CRLF and characters split over chunks are
 * fine; whatever is not a JSON-RPC object is noise; a line over `maximumCharacters` is skipped, not fatal.
 */
export class MessageLines {
  private readonly decoder = new StringDecoder('utf8');
  private parts: string[] = [];
  private length = 0;
  private oversize: { head: string; tail: string } | undefined;

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
    if (this.oversize !== undefined) {
      this.oversize.tail = tailOf(this.oversize.tail + text);
      return;
    }
    this.parts.push(text);
    this.length += text.length;
    if (this.length > this.maximumCharacters) {
      const start = this.parts.join('');
      this.oversize = { head: start.slice(0, OVERSIZE_HEAD_CHARACTERS), tail: tailOf(start) };
      this.parts = [];
    }
  }

  private finish(): MessageLine | undefined {
    const { oversize } = this;
    const line = this.parts
      .join('')
      .replace(/^\uFEFF/, '')
      .trim();
    this.parts = [];
    this.length = 0;
    this.oversize = undefined;
    if (oversize !== undefined) return readOversize(oversize);
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
  const read = readMessage(value);
  if (read.kind !== 'malformed') return read;
  return read.id === undefined ? { kind: 'noise' } : { kind: 'malformed', id: read.id };
}

function readOversize({ head, tail }: { head: string; tail: string }): MessageLine {
  if (!/^\s*\{/.test(head)) return { kind: 'noise' };
  const members = { ...membersInTail(tail), ...membersInHead(head) };
  // what the provider says by itself, or asks, answers nobody
  if (members.method !== undefined) return { kind: 'noise' };
  const id = /^"?(\d{1,15})"?$/.exec(members.id ?? '')?.[1];
  return { kind: 'oversize', id: id === undefined ? undefined : Number(id) };
}

function tailOf(text: string): string {
  return text.slice(-OVERSIZE_TAIL_CHARACTERS);
}
