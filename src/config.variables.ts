import { isIP } from 'node:net';
import { parseAllowedNetworks, type AllowedNetworks } from './address-policy.js';
import { agentClaim, algorithms, trustedUrl } from './config.oauth.js';
import { parseToken } from './token.js';

/** How one environment variable is read: its default, what it means, and how its text becomes a value. */
export interface Variable<T> {
  /** Default as text, or undefined when unset means "none". */
  fallback?: string;
  describe: string;
  secret?: true;
  /** Returns the value, or throws with a sentence that says what would be right (never echoing a secret). */
  parse(text: string): T;
}

function integer(minimum: number, maximum: number): (text: string) => number {
  return (given) => {
    const value = Number(given);
    if (!/^\d{1,12}$/.test(given) || value < minimum || value > maximum) {
      throw new Error(`must be a whole number from ${minimum} to ${maximum}`);
    }
    return value;
  };
}

function oneOf<const T extends readonly string[]>(...choices: T): (text: string) => T[number] {
  return (given) => {
    const found = choices.find((choice) => choice === given);
    if (found === undefined) throw new Error(`must be one of: ${choices.join(', ')}`);
    return found;
  };
}

function list(given: string): string[] {
  return given
    .split(/[,\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function text(maximum: number): (value: string) => string {
  return (value) => {
    if (value.length > maximum) throw new Error(`must have at most ${maximum} characters`);
    return value;
  };
}

function url(...protocols: string[]): (value: string) => string {
  return (value) => {
    const parsed = URL.canParse(value) ? new URL(value) : undefined;
    if (parsed === undefined || !protocols.includes(parsed.protocol)) {
      throw new Error(`must be a URL starting with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`);
    }
    return value;
  };
}

function host(value: string): string {
  if (isIP(value) === 0 && !/^[A-Za-z0-9.-]{1,253}$/.test(value)) throw new Error('must be a host name or an address');
  return value;
}

function operatorKey(value: string): string {
  if (parseToken(value)?.kind !== 'operator') {
    throw new Error('must be a well-formed wop_ key; `warren keys create` makes one');
  }
  return value;
}

function allowedNetworks(value: string): AllowedNetworks {
  const parsed = parseAllowedNetworks(value);
  if (!parsed.ok) throw new Error(`holds entries that are not right: ${parsed.problems.join('; ')}`);
  return parsed.value;
}

/** Every environment variable Warren reads, by name. */
export const variables = {
  HOST: { fallback: '127.0.0.1', describe: 'Address to listen on', parse: host },
  PORT: { fallback: '8080', describe: 'Port to listen on; 0 picks a free one', parse: integer(0, 65_535) },
  LOG_LEVEL: {
    fallback: 'info',
    describe: 'Least level that is logged',
    parse: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  },
  PATH: {
    fallback: '/usr/local/bin:/usr/bin:/bin',
    describe: 'Where stdio commands are looked up',
    parse: text(32_768),
  },
  DATABASE_URL: {
    describe: 'PostgreSQL 15 or newer to use in place of the embedded one',
    secret: true,
    parse: (value) => {
      if (!/^postgres(ql)?:\/\//.test(value)) throw new Error('must start with postgres:// or postgresql://');
      return value;
    },
  },
  WARREN_DATA_DIR: { describe: 'Directory of the embedded database and the key file', parse: text(4_096) },
  WARREN_MODS_DIR: { describe: 'Directory of mods (default: mods in the data directory)', parse: text(4_096) },
  WARREN_ADMIN_KEY: { describe: 'A well-formed wop_ key that holds scope admin', secret: true, parse: operatorKey },
  WARREN_ALLOWED_HOSTS: {
    fallback: '',
    describe: 'Host names, beside loopback and HOST, that requests may name, comma-separated',
    parse: (value) => list(value).map(host),
  },
  WARREN_ALLOW_PRIVATE_NETWORKS: {
    fallback: '',
    describe: 'Hosts or CIDRs of private networks that providers may live in, comma-separated',
    parse: allowedNetworks,
  },
  WARREN_STDIO: {
    fallback: 'allow',
    describe: 'Whether stdio connections may be saved and run',
    parse: oneOf('allow', 'off'),
  },
  WARREN_STDIO_COMMANDS: {
    fallback: '',
    describe: 'Commands, with a leading argument prefix, that stdio connections may run, comma-separated; empty: any',
    parse: list,
  },
  WARREN_STDIO_USER: { describe: 'System user that stdio providers run as', parse: text(64) },
  WARREN_MAX_PROCESSES: { fallback: '128', describe: 'Most provider processes at once', parse: integer(1, 10_000) },
  WARREN_MAX_MESSAGE_BYTES: {
    fallback: String(16 * 1024 * 1024),
    describe: 'Largest single message read from a provider, bytes',
    parse: integer(65_536, 1_073_741_824),
  },
  WARREN_IDLE_SECONDS: {
    fallback: '600',
    describe: 'Seconds after which an idle keep_alive session ends',
    parse: integer(1, 86_400),
  },
  WARREN_REDISCOVER_HOURS: {
    fallback: '24',
    describe: 'Age at which catalogs are refreshed; 0: never',
    parse: integer(0, 8_760),
  },
  WARREN_PREVIEW_CHARS: {
    fallback: '200',
    describe: 'Length of redacted previews in receipts; 0: none',
    parse: integer(0, 10_000),
  },
  WARREN_LEGACY_EVENTS_FILE: { describe: 'A legacy mcp-provider-events.jsonl to import once', parse: text(4_096) },
  WARREN_SECRET_KEYS: {
    describe: 'Keyring: <id>:<base64 of 32 bytes>, separated by commas or lines, first is current',
    secret: true,
    parse: text(65_536),
  },
  WARREN_SECRET_KEYS_FILE: { describe: 'File that holds the keyring', parse: text(4_096) },
  WARREN_REPLICA_URL: { describe: 'URL at which other replicas reach this one', parse: url('http:', 'https:') },
  WARREN_DB_POOLER: { describe: 'Set to transaction behind a transaction pooler', parse: oneOf('transaction') },
  WARREN_DB_CONNECTIONS: {
    fallback: '20',
    describe: 'Most database connections of this process',
    parse: integer(4, 1_000),
  },
  WARREN_OAUTH_ISSUER: {
    describe: 'Authorization server whose tokens open /mcp, as in their iss claim',
    parse: trustedUrl,
  },
  WARREN_OAUTH_AUDIENCE: {
    describe: 'URL of /mcp as clients reach it; what the aud claim of tokens must name',
    parse: trustedUrl,
  },
  WARREN_OAUTH_AGENT_CLAIM: { describe: 'Claim of tokens that holds the id of an agent', parse: agentClaim },
  WARREN_OAUTH_JWKS_URL: {
    describe: 'Where the keys of the authorization server are; unset: where its metadata says',
    parse: trustedUrl,
  },
  WARREN_OAUTH_ALGORITHMS: {
    fallback: 'RS256,ES256',
    describe: 'Signature algorithms of tokens, comma-separated',
    parse: algorithms,
  },
  WARREN_RATE_AUTH_FAILURES: {
    fallback: '30',
    describe: 'Failed authentications per minute and address',
    parse: integer(1, 1_000_000),
  },
  WARREN_RATE_REQUESTS: {
    fallback: '5000',
    describe: 'Requests per second and key',
    parse: integer(1, 1_000_000),
  },
  WARREN_RATE_AGENT_CALLS: {
    fallback: '256',
    describe: 'Menu calls of one agent at once',
    parse: integer(1, 100_000),
  },
  WARREN_RATE_CONNECTIONS: {
    fallback: '5000',
    describe: 'HTTP connections at once',
    parse: integer(10, 1_000_000),
  },
} as const satisfies Record<string, Variable<unknown>>;

export type VariableName = keyof typeof variables;
export type VariableValue<Name extends VariableName> = ReturnType<(typeof variables)[Name]['parse']>;
