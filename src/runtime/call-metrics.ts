import { Injectable } from '@nestjs/common';
import { Metrics } from '../metrics.js';
import { callCodes, type CallCode } from './call-codes.js';
import { InFlightCalls } from './in-flight-calls.js';

/** Upper bounds of the durations counted together, seconds; a call may take at most 300. */
const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

const OUTCOMES = ['ok', ...Object.keys(callCodes)] as ('ok' | CallCode)[];

/** Counts and times the calls of this process: by outcome only, since agents and tools may be any number. */
@Injectable()
export class CallMetrics {
  private readonly count: (outcome: 'ok' | CallCode) => void;
  private readonly time: (seconds: number) => void;

  constructor(metrics: Metrics, inFlight: InFlightCalls) {
    this.count = metrics.counter(
      { name: 'warren_calls_total', help: 'Answered calls, by code: ok, or that of the error.' },
      'code',
      OUTCOMES,
    );
    this.time = metrics.histogram(
      { name: 'warren_call_duration_seconds', help: 'Time from the arrival of a call to its outcome.' },
      DURATIONS,
    );
    metrics.gauge(
      { name: 'warren_calls_in_flight', help: 'Calls that wait for their session or their provider.' },
      () => inFlight.count,
    );
  }

  /** One call has its outcome; `undefined` is success. */
  record(code: CallCode | undefined, durationMs: number): void {
    this.count(code ?? 'ok');
    this.time(durationMs / 1_000);
  }
}
