import { Inject, Injectable } from '@nestjs/common';
import type { Settings } from './config.js';
import { ProblemError } from './errors.js';
import { Metrics } from './metrics.js';
import { AuthFailures } from './rate-auth-failures.js';
import { RateBuckets } from './rate-buckets.js';
import { SETTINGS } from './settings.token.js';

/** The bounds that can turn somebody away, as the metric names them. */
const bounds = ['auth_failures', 'requests', 'agent_calls', 'connections'] as const;
export type RateBound = (typeof bounds)[number];

/** Keys that send requests and are remembered. */
const MOST_KEYS = 10_000;

/** The rate bounds of this process; replicas count each for itself. */
@Injectable()
export class RateBounds {
  /** Counts one that was turned away. */
  readonly count: (bound: RateBound) => void;
  private readonly failures: AuthFailures;
  private readonly requests: RateBuckets;

  constructor(@Inject(SETTINGS) settings: Settings, metrics: Metrics) {
    this.failures = new AuthFailures(settings.WARREN_RATE_AUTH_FAILURES);
    const perSecond = settings.WARREN_RATE_REQUESTS;
    this.requests = new RateBuckets(perSecond, perSecond, MOST_KEYS);
    this.count = metrics.counter(
      { name: 'warren_rate_limited_total', help: 'Requests, menu calls and connections turned away by a rate bound' },
      'bound',
      bounds,
    );
  }

  /**
   * Runs one authentication under the bound on failures of its address. Errors: `rate_limited`, before anything is
   * looked up; what `check` throws, which counts as no failure.
   */
  async authentication<T>(
    address: string | undefined,
    token: string,
    check: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const waitMs = this.failures.waitMs(address, token);
    if (waitMs > 0) {
      throw this.refused('auth_failures', waitMs, 'Too many failed authentications from this address.');
    }
    const found = await check();
    if (found === undefined) this.failures.failed(address);
    else this.failures.succeeded(address, token);
    return found;
  }

  /** Counts one request of a key. Errors: `rate_limited`. */
  request(key: string): void {
    const waitMs = this.requests.waitMs(key);
    if (waitMs > 0)
      throw this.refused('requests', waitMs, 'This key sends more requests than WARREN_RATE_REQUESTS allows.');
    this.requests.spend(key);
  }

  private refused(bound: RateBound, waitMs: number, detail: string): ProblemError {
    this.count(bound);
    return new ProblemError('rate_limited', detail, { retryAfterSeconds: Math.ceil(waitMs / 1_000) });
  }
}
