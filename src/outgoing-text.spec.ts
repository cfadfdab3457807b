import { describe, expect, it } from '@jest/globals';
import { maskText, outgoingEvent, outgoingText } from './outgoing-text.js';
import { Redactor } from './redactor.js';

const redactor = new Redactor(['se"cret value 1', '1234567890123']);

describe('outgoing text', () => {
  it('without a secret is the very same text', async () => {
    const text = JSON.stringify({ a: 'x'.repeat(200_000), b: 1_234_567 });
    expect(await outgoingText(text, redactor)).toBe(text);
    expect(await outgoingEvent(`event: message\ndata: ${text}\n\n`, redactor)).toContain(text);
  });

  it('stays JSON, whether the secret is escaped, a number, a name, or the whole', async () => {
    const value = { text: 'a se"cret value 1', 'se"cret value 1': [1_234_567_890_123, 'se"cret value 1'] };
    const masked = JSON.parse(await outgoingText(JSON.stringify(value), redactor));
    expect(masked).toEqual({ text: 'a [redacted]', '[redacted]': ['[redacted]', '[redacted]'] });
    expect(await outgoingText('1234567890123', redactor)).toBe('"[redacted]"');
  });

  it('that is no JSON is masked where the secret stands', async () => {
    expect(await outgoingText('warren_x{a="se%22cret value 1"} 1', redactor)).toBe('warren_x{a="[redacted]"} 1');
  });

  it('is masked line by line in an event', async () => {
    const data = JSON.stringify({ n: 1_234_567_890_123 });
    const masked = await outgoingEvent(`event: message\ndata: ${data}\n\n: waiting\n\n`, redactor);
    expect(masked).toBe('event: message\ndata: {"n":"[redacted]"}\n\n: waiting\n\n');
  });

  it('is the same in slices as at once', async () => {
    const text = `${'x'.repeat(65_530)}se"cret value 1${'y'.repeat(70_000)}`;
    expect(await maskText(text, redactor)).toEqual(redactor.text(text));
  });
});
