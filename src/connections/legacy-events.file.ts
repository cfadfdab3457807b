import { isUtf8 } from 'node:buffer';
import { constants, open } from 'node:fs/promises';
import { systemErrorCode } from '../system-error.js';

/** Largest file that is imported, bytes; what one seal takes. */
export const MAX_LEGACY_FILE_BYTES = 16 * 1024 * 1024;

/** A file that cannot be imported; the message completes "the file …". */
export class LegacyFileError extends Error {
  override readonly name = 'LegacyFileError';
}

/** The bytes of a regular file of UTF-8 text. Errors: `LegacyFileError` in words. */
export async function readLegacyFile(path: string): Promise<Buffer> {
  const bytes = await readBounded(path).catch((error: unknown) => {
    if (error instanceof LegacyFileError) throw error;
    throw new LegacyFileError(`cannot be read (${systemErrorCode(error) ?? 'no code'})`, { cause: error });
  });
  if (!isUtf8(bytes)) throw new LegacyFileError('is not valid UTF-8');
  return bytes;
}

async function readBounded(path: string): Promise<Buffer> {
  // without O_NONBLOCK, opening a named pipe waits for its writer
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new LegacyFileError('is not a regular file');
    if (stat.size > MAX_LEGACY_FILE_BYTES) throw tooLarge();
    const chunks: Buffer[] = [];
    // one byte more than allowed, since the file may grow meanwhile; `end` is inclusive
    const stream = file.createReadStream({ end: MAX_LEGACY_FILE_BYTES, autoClose: false });
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    if (bytes.length > MAX_LEGACY_FILE_BYTES) throw tooLarge();
    return bytes;
  } finally {
    await file.close();
  }
}

function tooLarge(): LegacyFileError {
  return new LegacyFileError(`is larger than ${MAX_LEGACY_FILE_BYTES} bytes`);
}
