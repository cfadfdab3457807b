import { MIN_SECRET_LENGTH } from './redactor.forms.js';
import { Redactor } from './redactor.js';

/** Where Warren's own secrets come from. */
export interface OwnSecretSources {
  /** The keyring as text: `<id>:<base64 of 32 bytes>`, separated by commas or lines. */
  keyring: string;
  databaseUrl?: string | undefined;
  adminKey?: string | undefined;
}

/** Warren's own secrets (database password, keyring, admin key): always part of what is redacted from any output. */
export class OwnSecrets {
  private held: Redactor;

  /** @param warnings in words for an operator: what cannot be masked */
  constructor(
    secrets: readonly string[],
    readonly warnings: readonly string[] = [],
  ) {
    this.held = new Redactor(secrets);
  }

  static of({ keyring, databaseUrl, adminKey }: OwnSecretSources): OwnSecrets {
    const keys = keyring
      .split(/[,\r\n]/)
      .map((entry) => entry.slice(entry.indexOf(':') + 1).trim())
      .filter((key) => key !== '');
    const database = databaseUrl === undefined ? { secrets: [], warnings: [] } : databaseSecrets(databaseUrl);
    const texts = [...keys, ...database.secrets, ...(adminKey === undefined ? [] : [adminKey])];
    return new OwnSecrets(
      [...texts, ...keys.flatMap((key) => keySpellings(Buffer.from(key, 'base64')))],
      database.warnings,
    );
  }

  get redactor(): Redactor {
    return this.held;
  }

  /** Adds a key of raw bytes; before anything is served, since what was made with `redactor` so far does not know it. */
  learnKey(key: Uint8Array): void {
    this.held = this.held.with(keySpellings(key));
  }
}

/** How raw bytes are written: in hex, and in base64 at each alignment, without the characters their neighbours decide. */
export function keySpellings(key: Uint8Array): string[] {
  const hex = Buffer.from(key).toString('hex');
  const base64 = [0, 1, 2].flatMap((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), key]);
    const core = [Math.ceil((offset * 8) / 6), Math.floor((shifted.length * 8) / 6)] as const;
    return [shifted.toString('base64').slice(...core), shifted.toString('base64url').slice(...core)];
  });
  return [...new Set([hex, hex.toUpperCase(), ...base64])];
}

function databaseSecrets(databaseUrl: string): { secrets: string[]; warnings: string[] } {
  const url = URL.canParse(databaseUrl) ? new URL(databaseUrl) : undefined;
  const password = url?.searchParams.get('password') ?? decoded(url?.password ?? '');
  // without a password the URL is no secret, and answers may well hold parts of it
  if (url === undefined || password === '') return { secrets: [], warnings: [] };
  const warning = (why: string) => `the database password ${why}, so it cannot be masked where it stands alone`;
  if (password.length < MIN_SECRET_LENGTH) {
    return { secrets: [databaseUrl], warnings: [warning(`is shorter than ${MIN_SECRET_LENGTH} characters`)] };
  }
  const words = [url.username, url.hostname, url.pathname.slice(1), 'postgres', 'postgresql'].map(decoded);
  // masking a word of everyday use would eat ordinary text, and a read connection could not be saved again
  if (words.includes(password)) return { secrets: [databaseUrl], warnings: [warning('is an ordinary word here')] };
  return { secrets: [databaseUrl, password], warnings: [] };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
