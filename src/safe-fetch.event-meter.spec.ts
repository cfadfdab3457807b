import { describe, expect, it } from '@jest/globals';
import { EventSizeMeter } from './safe-fetch.event-meter.js';

function feed(limit: number, text: string, chunkBytes = text.length): () => void {
  return () => {
    const meter = new EventSizeMeter(limit, 'http://h/');
    for (let at = 0; at < text.length; at += chunkBytes) meter.add(Buffer.from(text.slice(at, at + chunkBytes)));
  };
}

describe('EventSizeMeter', () => {
  it.each(['\n', '\r\n', '\r'])('starts anew after each event, lines ended by %j', (end) => {
    const event = `data: 12345678${end}${end}`;
    expect(feed(14, event.repeat(1_000), 7)).not.toThrow();
    expect(feed(13, event)).toThrow('larger than 13 bytes');
  });

  it('adds up the lines of one event, at any chunk border', () => {
    expect(feed(20, 'data: 123456\ndata: 123\n\n', 1)).toThrow('larger than 20 bytes');
    expect(feed(22, 'data: 123456\ndata: 123\n\n', 1)).not.toThrow();
    // A CRLF pair cut in two is one line end, not a blank line that would start the count anew.
    expect(feed(20, 'data: 123456\r\ndata: 123\r\n', 1)).toThrow('larger');
  });

  it('lets comments go on for ever, but no endless comment', () => {
    expect(feed(10, ': alive\n'.repeat(1_000))).not.toThrow();
    expect(feed(10, `: ${'x'.repeat(20)}`)).toThrow('larger');
  });

  it('refuses a line that never ends', () => {
    expect(feed(100, 'x'.repeat(101), 10)).toThrow('larger');
    expect(feed(100, 'x'.repeat(100), 10)).not.toThrow();
  });
});
