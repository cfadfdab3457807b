import { setImmediate } from 'node:timers/promises';
import type { Redactor } from './redactor.js';

/** What is masked in one go, in UTF-16 code units: some milliseconds at worst, then everybody else has a turn. */
const SLICE_LENGTH = 65_536;

/** The text with the redactor's secrets masked, and how many places were. A long one is taken in slices, between which others are served. */
export async function maskText(text: string, redactor: Redactor): Promise<{ text: string; count: number }> {
  if (text.length <= SLICE_LENGTH) return redactor.text(text);
  const stream = redactor.stream();
  const parts: string[] = [];
  let position = 0;
  for (; text.length - position > SLICE_LENGTH; position += SLICE_LENGTH) {
    parts.push(stream.push(text.slice(position, position + SLICE_LENGTH)));
    await setImmediate();
  }
  parts.push(stream.end(text.slice(position)));
  return stream.count === 0 ? { text, count: 0 } : { text: parts.join(''), count: stream.count };
}

/**
 * The last gate of every text that leaves: the very same text when it holds no secret. JSON stays JSON, also where a
 * secret is a number there.
 */
export async function outgoingText(text: string, redactor: Redactor): Promise<string> {
  const masked = await maskText(text, redactor);
  if (masked.count === 0) return text;
  const value = parsed(text);
  return value === undefined ? masked.text : JSON.stringify(redactor.json(value).value);
}

/** The same for one server-sent event, whose lines of data are JSON. */
export async function outgoingEvent(event: string, redactor: Redactor): Promise<string> {
  const masked = await maskText(event, redactor);
  if (masked.count === 0) return event;
  const lines = event.split('\n').map(async (line) => {
    const [, name = '', text = ''] = /^([a-z]+: ?)?(.*)$/s.exec(line) ?? [];
    return name + (await outgoingText(text, redactor));
  });
  return (await Promise.all(lines)).join('\n');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
