import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Redactor } from '../redactor.js';
import { protectResult } from './result-protection.js';
import type { ToolResult } from './tool-result.js';

const SLICE = 65_536;
const SEED = 20_261_130;
const SECRETS = ['a-secret-of-some-length', 'pa ss/w%rd "1"', 'geheim-äöü-🦊🦊', '1234567890123'];
const redactor = new Redactor(SECRETS);

const written = fc
  .tuple(fc.constantFrom(...SECRETS), fc.nat(5))
  .map(
    ([secret, spelling]) =>
      [
        secret,
        JSON.stringify(secret),
        encodeURIComponent(secret),
        Buffer.from(secret).toString('base64'),
        Buffer.from(secret).toString('hex'),
        secret.slice(0, -1),
      ][spelling] ?? '',
  );
/** Secrets, whole or not, so that they stand on the borders of slices, within escapes and characters. */
const longText = fc
  .array(fc.tuple(fc.integer({ min: -80, max: 20 }), written), { minLength: 1, maxLength: 3 })
  .map((places) => {
    let text = '';
    for (const [index, [offset, secret]] of places.entries()) {
      text += '🦊x'.repeat(SLICE).slice(0, Math.max(0, (index + 1) * SLICE + offset - text.length)) + secret;
    }
    return text;
  });
const result = fc
  .record({ texts: fc.array(fc.oneof(longText, written), { maxLength: 3 }), structuredContent: fc.jsonValue() })
  .map(({ texts, structuredContent }): ToolResult => {
    const content = texts.map((text) => ({ type: 'text', text, [text.slice(-40)]: 1_234_567_890_123 }));
    return { isError: false, content, structuredContent };
  });

describe('protectResult', () => {
  it(`masks and counts as the redactor does at once, seed ${SEED}`, async () => {
    let marks = 0;
    const property = fc.asyncProperty(result, async (given) => {
      const whole = redactor.json(given);
      const { result: masked, protection } = await protectResult(given, redactor);
      expect(masked).toEqual(whole.value);
      const status = whole.count > 0 ? 'redacted' : 'clean';
      expect(protection).toEqual({ status, redacted: whole.count, sealed: 0, types: [] });
      marks += whole.count;
    });
    await fc.assert(property, { numRuns: 200, seed: SEED });
    expect(marks).toBeGreaterThan(200);
  });

  it('counts a text that comes twice twice', async () => {
    const block = { type: 'text', text: SECRETS[0] };
    const { protection } = await protectResult({ isError: false, content: [block, block] }, redactor);
    expect(protection.redacted).toBe(2);
  });

  it.each([
    ['one text', [{ type: 'text', text: 'x'.repeat(64 * SLICE) }]],
    [
      'many texts',
      Array.from({ length: 1_000 }, (_, index) => ({ type: 'text', text: `${index}`.padEnd(4_096, 'x') })),
    ],
    ['many short texts', [{ type: 'x', names: Array.from({ length: 20_000 }, (_, index) => `number ${index}`) }]],
  ])('gives others their turns: %s', async (_, content) => {
    let turns = 0;
    let done = false;
    const others = (): void => {
      turns += 1;
      if (!done) setImmediate(others);
    };
    setImmediate(others);
    await protectResult({ isError: false, content }, redactor);
    done = true;
    expect(turns).toBeGreaterThan(50);
  });
});
