import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Keyring, KeyringError, SecretBox, SecretBoxError, type SealContext } from './secret-box.js';

const entry = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;
const CONTEXT: SealContext = { owner: 'github', kind: 'environment', name: 'API_KEY' };

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof SecretBoxError) return error.code;
    throw error;
  }
  return 'opened';
}

describe('Keyring.parse', () => {
  it('reads entries separated by commas or lines, the first being current', () => {
    const keyring = Keyring.parse(`${entry('new')} , ${entry('old')}\r\n\n${entry('old.er-1_x')}\n`);
    expect(keyring.currentKeyId).toBe('new');
    expect(keyring.keyIds).toEqual(['new', 'old', 'old.er-1_x']);
  });

  const key = randomBytes(32).toString('base64');
  it.each([
    ['nothing', '', 'the keyring is empty'],
    ['blank entries', ' ,\n, ', 'the keyring is empty'],
    ['no colon', `${entry('a')},${key}`, 'keyring entry 2 has no ":"'],
    ['an empty id', `:${key}`, 'keyring entry 1 needs an id'],
    ['a foreign character in an id', `a b:${key}`, 'keyring entry 1 needs an id'],
    ['a long id', `${'x'.repeat(33)}:${key}`, 'keyring entry 1 needs an id'],
    ['a repeated id', `${entry('a')},${entry('b')},${entry('a')}`, 'keyring entry 3 repeats'],
    ['a short key', `a:${randomBytes(31).toString('base64')}`, 'keyring entry 1 needs a key of exactly 32 bytes'],
    ['a long key', `a:${randomBytes(33).toString('base64')}`, 'keyring entry 1 needs a key of exactly 32 bytes'],
    ['base64url', `a:${'-_'.repeat(21)}A=`, 'keyring entry 1 needs a key'],
    ['stray bits in the last character', `a:${'A'.repeat(42)}B=`, 'keyring entry 1 needs a key'],
    ['too many', Array.from({ length: 101 }, (_, index) => entry(`k${index}`)).join(), 'more than 100 entries'],
  ])('refuses %s and repeats nothing of it', (_, text, message) => {
    let caught: unknown;
    try {
      Keyring.parse(text);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(KeyringError);
    const said = caught instanceof Error ? caught.message : '';
    expect(said).toContain(message);
    expect(said).not.toContain(key.slice(0, 8));
  });
});

describe('SecretBox', () => {
  const first = entry('k1');
  const second = entry('k3');
  let box: SecretBox;
  let rotated: SecretBox;

  beforeAll(async () => {
    box = await SecretBox.create(Keyring.parse(first));
    rotated = await SecretBox.create(Keyring.parse(`${second},${first}`));
  });

  it('opens what it sealed: text, bytes, nothing', () => {
    expect(box.open(box.seal('sk-é😀', CONTEXT), CONTEXT).toString()).toBe('sk-é😀');
    const bytes = randomBytes(70_000);
    expect(box.open(box.seal(bytes, CONTEXT), CONTEXT).equals(bytes)).toBe(true);
    expect(box.open(box.seal('', CONTEXT), CONTEXT)).toHaveLength(0);
  });

  it('never seals to the same bytes twice and shows nothing of the text', () => {
    const sealed = box.seal('plain-to-see', CONTEXT);
    expect(sealed.equals(box.seal('plain-to-see', CONTEXT))).toBe(false);
    expect(sealed.includes('plain')).toBe(false);
  });

  it('refuses every single changed bit, and every shortening', () => {
    // k1 and k3 are one bit apart, so a changed key id can name the other key.
    const sealed = rotated.seal('the secret value', CONTEXT);
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(codeOf(() => rotated.open(changed, CONTEXT))).toMatch(/^(refused|unknown_key)$/);
    }
    for (let length = 0; length < sealed.length; length += 1) {
      expect(codeOf(() => rotated.open(sealed.subarray(0, length), CONTEXT))).toMatch(/^(refused|unknown_key)$/);
    }
    expect(codeOf(() => rotated.open(Buffer.concat([sealed, Buffer.of(0)]), CONTEXT))).toBe('refused');
  });

  it('refuses a value moved to another owner, kind or name, also when the joined text is equal', () => {
    const sealed = box.seal('value', { owner: 'ab', kind: 'c', name: 'd' });
    const others: SealContext[] = [
      { owner: 'a', kind: 'bc', name: 'd' },
      { owner: 'ab', kind: 'cd', name: '' },
      { owner: 'ab', kind: 'd', name: 'c' },
      { owner: 'abc', kind: '', name: 'd' },
      { owner: 'AB', kind: 'c', name: 'd' },
    ];
    for (const other of others) expect(codeOf(() => box.open(sealed, other))).toBe('refused');
    const lone = box.seal('value', { ...CONTEXT, name: '\ud800' });
    expect(codeOf(() => box.open(lone, { ...CONTEXT, name: '\ufffd' }))).toBe('refused');
  });

  it('opens values of older keys, seals with the current one, and names the key', () => {
    const old = box.seal('value', CONTEXT);
    expect(rotated.open(old, CONTEXT).toString()).toBe('value');
    expect(rotated.keyIdOf(old)).toBe('k1');
    expect(rotated.currentKeyId).toBe('k3');
    const renewed = rotated.seal('value', CONTEXT);
    expect(box.keyIdOf(renewed)).toBe('k3');
    expect(codeOf(() => box.open(renewed, CONTEXT))).toBe('unknown_key');
  });

  it('tells another key under the same id from an unknown key', async () => {
    const impostor = await SecretBox.create(Keyring.parse(entry('k1')));
    expect(codeOf(() => impostor.open(box.seal('value', CONTEXT), CONTEXT))).toBe('refused');
  });

  it('refuses a plaintext over 16 MiB', () => {
    expect(() => box.seal(Buffer.alloc(16 * 1024 * 1024 + 1), CONTEXT)).toThrow(RangeError);
  });

  it('derives one key per purpose and per key', () => {
    const key = box.deriveKey('replicas');
    expect(key).toHaveLength(32);
    expect(box.deriveKey('replicas').equals(key)).toBe(true);
    expect(box.deriveKey('other').equals(key)).toBe(false);
    expect(rotated.deriveKey('replicas').equals(key)).toBe(false);
    expect(rotated.deriveKey('replicas', 'k1').equals(key)).toBe(true);
    expect(codeOf(() => box.deriveKey('replicas', 'k3'))).toBe('unknown_key');
  });
});
