import { ConfigError, readProcessConfig } from '../config.js';
import { OwnSecrets } from '../own-secrets.js';
import { Redactor } from '../redactor.js';
import { errorText } from '../system-error.js';

/** What an operator is told of an error that ended a command, with its cause where that says more; secrets masked. */
export function complaintOf(error: unknown, withCause: boolean): string {
  const said = errorText(error);
  const cause = error instanceof Error && error.cause !== undefined ? errorText(error.cause) : '';
  const text = withCause && cause !== '' && !said.includes(cause) ? `${said}\n  because: ${cause}` : said;
  return error instanceof ConfigError ? text : environmentSecrets().text(text).text;
}

/** Masks the secrets of the environment, of which a driver's own words may quote some. */
function environmentSecrets(): Redactor {
  try {
    const { WARREN_SECRET_KEYS, DATABASE_URL, WARREN_ADMIN_KEY } = readProcessConfig().settings;
    const keyring = WARREN_SECRET_KEYS ?? '';
    return OwnSecrets.of({ keyring, databaseUrl: DATABASE_URL, adminKey: WARREN_ADMIN_KEY }).redactor;
  } catch {
    return Redactor.empty;
  }
}
