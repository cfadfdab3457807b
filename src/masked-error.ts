import type { Redactor } from './redactor.js';
import { systemErrorCode } from './system-error.js';

/** Causes followed; chains may be circular. */
const MAX_CAUSES = 8;

/**
 * A copy of an error for the log, with the redactor's secrets masked in its name, message and stack and in those of its
 * causes. Keeps the `code` of system and database errors and nothing else, since other fields may quote a provider.
 */
export function maskedError(error: unknown, redactor: Redactor, causes = MAX_CAUSES): Error {
  const mask = (text: string): string => redactor.text(text).text;
  // Not by `instanceof`: errors of another realm are errors too.
  const { name, message, stack, cause } = (typeof error === 'object' && error !== null ? error : {}) as Partial<Error>;
  const masked = new Error(
    mask(typeof message === 'string' ? message : String(error)),
    cause === undefined || causes === 0 ? {} : { cause: maskedError(cause, redactor, causes - 1) },
  );
  masked.name = mask(typeof name === 'string' ? name : 'Error');
  masked.stack = mask(typeof stack === 'string' ? stack : masked.message);
  const code = systemErrorCode(error);
  return code === undefined ? masked : Object.assign(masked, { code: mask(code) });
}
