import { createLocalJWKSet, errors, type CryptoKey, type JSONWebKeySet, type JWTHeaderParameters } from 'jose';
import { ProblemError } from './errors.js';

/** After so long the keys are asked for again, while the ones at hand serve on, milliseconds. */
const FRESH_MS = 600_000;
/** How long keys serve when the authorization server does not answer. */
const USABLE_MS = 3_600_000;
/** Between two questions, whatever is presented meanwhile. */
const COOL_DOWN_MS = 30_000;
/** After a question that failed. */
const FAILURE_REST_MS = 5_000;
const MOST_KEYS = 100;

interface Held {
  keyOf: ReturnType<typeof createLocalJWKSet>;
  since: number;
}

/**
 * The authorization server's public keys. A key nobody knows makes it ask again, one question at a time and at most one
 * in 30 s, so that made-up tokens cannot make it ask more. Its clock is monotonic.
 */
export class OauthKeys {
  private held: Held | undefined;
  private asking: Promise<void> | undefined;
  private restUntil = -Infinity;

  constructor(
    private readonly read: () => Promise<unknown>,
    private readonly onFailure: (error: unknown) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** The key that a token says it was signed with. Errors: jose's when there is none; `authorization_server_unavailable`. */
  readonly keyOf = async (header: JWTHeaderParameters): Promise<CryptoKey> => {
    const held = await this.usable();
    try {
      return await held.keyOf(header);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.ask();
      if (this.held === undefined || this.held === held) throw error;
      return this.held.keyOf(header);
    }
  };

  private async usable(): Promise<Held> {
    const age = this.now() - (this.held?.since ?? -Infinity);
    if (age > USABLE_MS) {
      this.held = undefined;
      await this.ask();
    } else if (age > FRESH_MS) void this.ask();
    if (this.held !== undefined) return this.held;
    throw new ProblemError(
      'authorization_server_unavailable',
      'The keys of the authorization server cannot be had now.',
      {
        retryAfterSeconds: FAILURE_REST_MS / 1_000,
      },
    );
  }

  /** Asks unless it did lately; whoever comes meanwhile waits for the same answer. Never rejects. */
  private ask(): Promise<void> {
    if (this.asking !== undefined) return this.asking;
    if (this.now() < this.restUntil) return Promise.resolve();
    this.restUntil = this.now() + COOL_DOWN_MS;
    this.asking = this.renew().finally(() => {
      this.asking = undefined;
    });
    return this.asking;
  }

  private async renew(): Promise<void> {
    try {
      this.held = { keyOf: createLocalJWKSet(publicKeys(await this.read())), since: this.now() };
    } catch (error) {
      this.restUntil = this.now() + FAILURE_REST_MS;
      this.onFailure(error);
    }
  }
}

/** The first hundred of a key set; what is no public key is refused when it is used. */
function publicKeys(value: unknown): JSONWebKeySet {
  const { keys } = value as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('the authorization server sent no key set');
  return { keys: (keys as JSONWebKeySet['keys']).slice(0, MOST_KEYS) };
}
