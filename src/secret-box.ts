import { Buffer } from 'node:buffer';
import sodium from 'libsodium-wrappers';

const VERSION = 1;
const KEY_BYTES = 32;
const NONCE_BYTES = 24;
const TAG_BYTES = 16;
const MAX_KEYS = 100;
/** The longest plaintext one seal takes; the largest thing sealed is one imported file's original text. */
const MAX_PLAINTEXT_BYTES = 16 * 1024 * 1024;
const KEY_ID = /^[A-Za-z0-9._-]{1,32}$/;
const KEY_TEXT = /^[A-Za-z0-9+/]{43}=$/;

/** What a sealed value belongs to. It is bound to the value: opening with any other context is refused. */
export interface SealContext {
  /** Id of the connection (or other record) that holds the secret. */
  readonly owner: string;
  readonly kind: string;
  readonly name: string;
}

/** A keyring that cannot be read. The message names the entry by number and never repeats any part of it. */
export class KeyringError extends Error {
  override readonly name = 'KeyringError';
}

/** `unknown_key`: sealed under a key this keyring lacks. `refused`: damaged, edited, or another row's value. */
export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError';

  constructor(
    readonly code: 'unknown_key' | 'refused',
    message: string,
  ) {
    super(message);
  }
}

/** The named keys secrets are sealed under; new seals use the first, all of them open. */
export class Keyring {
  readonly #keys: ReadonlyMap<string, Buffer>;

  private constructor(
    readonly currentKeyId: string,
    keys: ReadonlyMap<string, Buffer>,
  ) {
    this.#keys = keys;
  }

  /**
   * Reads `<id>:<base64 of 32 bytes>` entries separated by commas or line breaks; blank ones are passed over.
   * @throws {KeyringError} naming the first entry that is wrong
   */
  static parse(text: string): Keyring {
    const entries = text
      .split(/[,\r\n]/)
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '');
    if (entries.length > MAX_KEYS) throw new KeyringError(`the keyring has more than ${MAX_KEYS} entries`);

    const keys = new Map<string, Buffer>();
    for (const [index, entry] of entries.entries()) {
      const where = `keyring entry ${index + 1}`;
      const colon = entry.indexOf(':');
      if (colon < 0) throw new KeyringError(`${where} has no ":" between its id and its key`);
      const id = entry.slice(0, colon).trim();
      if (!KEY_ID.test(id)) {
        throw new KeyringError(`${where} needs an id of 1 to 32 letters, digits, dots, underscores or hyphens`);
      }
      if (keys.has(id)) throw new KeyringError(`${where} repeats the id of an earlier entry`);
      keys.set(id, decodeKey(entry.slice(colon + 1).trim(), where));
    }

    const [current] = keys.keys();
    if (current === undefined) throw new KeyringError('the keyring is empty');
    return new Keyring(current, keys);
  }

  /** Ids in the order written, the current one first. */
  get keyIds(): string[] {
    return [...this.#keys.keys()];
  }

  /** @throws {SecretBoxError} `unknown_key` */
  key(id: string): Buffer {
    const key = this.#keys.get(id);
    if (key === undefined) throw new SecretBoxError('unknown_key', 'sealed under a key that is not in the keyring');
    return key;
  }
}

/**
 * Seals secrets with XChaCha20-Poly1305. A sealed value names its key, so opening never tries one key after
 * another: version (1 byte), length of the key id (1 byte), key id, nonce (24 bytes), ciphertext with its tag.
 */
export class SecretBox {
  private constructor(private readonly keyring: Keyring) {}

  /** Waits for the cryptography library to load. */
  static async create(keyring: Keyring): Promise<SecretBox> {
    await sodium.ready;
    return new SecretBox(keyring);
  }

  get currentKeyId(): string {
    return this.keyring.currentKeyId;
  }

  /** Ids of all keys, the current one first. */
  get keyIds(): string[] {
    return this.keyring.keyIds;
  }

  /** The same, each with what tells it from another key of that id and tells nothing of the key: `<id>:<16 hex digits>`. */
  get keyMarks(): string[] {
    return this.keyIds.map((id) => `${id}:${this.deriveKey('keyring mark', id).toString('hex', 0, 8)}`);
  }

  /** @throws {RangeError} when the plaintext is longer than 16 MiB */
  seal(plaintext: string | Uint8Array, context: SealContext): Buffer {
    const message = typeof plaintext === 'string' ? Buffer.from(plaintext, 'utf8') : plaintext;
    if (message.length > MAX_PLAINTEXT_BYTES) {
      throw new RangeError(`a sealed value holds at most ${MAX_PLAINTEXT_BYTES} bytes`);
    }
    const id = Buffer.from(this.currentKeyId, 'latin1');
    const header = Buffer.concat([Buffer.of(VERSION, id.length), id]);
    const nonce = sodium.randombytes_buf(NONCE_BYTES);
    const ciphertext = sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(
      message,
      associatedData(header, context),
      null,
      nonce,
      this.keyring.key(this.currentKeyId),
    );
    return Buffer.concat([header, nonce, ciphertext]);
  }

  /** @throws {SecretBoxError} */
  open(sealed: Uint8Array, context: SealContext): Buffer {
    const { header, nonce, ciphertext, keyId } = readEnvelope(sealed);
    const key = this.keyring.key(keyId);
    const data = associatedData(header, context);
    try {
      return Buffer.from(sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(null, ciphertext, data, nonce, key));
    } catch {
      // The library's own error says no more than this one, and may not be shown.
      throw refused();
    }
  }

  /** The id of the key a value is sealed under, whether or not the keyring has it. @throws {SecretBoxError} `refused` */
  keyIdOf(sealed: Uint8Array): string {
    return readEnvelope(sealed).keyId;
  }

  /**
   * A key of 32 bytes for another use, by keyed BLAKE2b: the same on every process that holds the same key.
   * @throws {SecretBoxError} `unknown_key`
   */
  deriveKey(purpose: string, keyId: string = this.currentKeyId): Buffer {
    return Buffer.from(sodium.crypto_generichash(KEY_BYTES, `warren/derive/${purpose}`, this.keyring.key(keyId)));
  }
}

function decodeKey(text: string, where: string): Buffer {
  const key = Buffer.from(text, 'base64');
  // Compared with its re-encoding: Node's decoder passes over characters and stray bits that a typo leaves.
  if (!KEY_TEXT.test(text) || key.length !== KEY_BYTES || key.toString('base64') !== text) {
    throw new KeyringError(`${where} needs a key of exactly ${KEY_BYTES} bytes in base64 after its ":"`);
  }
  return key;
}

function readEnvelope(sealed: Uint8Array) {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const headerEnd = 2 + (bytes[1] ?? 0);
  const nonceEnd = headerEnd + NONCE_BYTES;
  const keyId = bytes.toString('latin1', 2, headerEnd);
  if (bytes[0] !== VERSION || bytes.length < nonceEnd + TAG_BYTES || !KEY_ID.test(keyId)) throw refused();
  return {
    header: bytes.subarray(0, headerEnd),
    nonce: bytes.subarray(headerEnd, nonceEnd),
    ciphertext: bytes.subarray(nonceEnd),
    keyId,
  };
}

function associatedData(header: Buffer, context: SealContext): Buffer {
  const parts = [header];
  for (const field of [context.owner, context.kind, context.name]) {
    // Each field follows its own length, so no two contexts join to the same bytes; UTF-16 keeps any two strings apart.
    const bytes = Buffer.from(field, 'utf16le');
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    parts.push(length, bytes);
  }
  return Buffer.concat(parts);
}

function refused(): SecretBoxError {
  return new SecretBoxError('refused', 'the sealed value is damaged or belongs to another record');
}
