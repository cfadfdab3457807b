import type { DispatchGate } from '../src/dispatch-gate.js';
import { pending } from './safe-fetch.servers.js';

/** Notes what the transport does with the admissions it asks for. */
export class RecordingGate implements DispatchGate {
  readonly events: string[] = [];

  constructor(
    private readonly answers: { admit?: () => Promise<void>; mayWrite?: () => boolean; written?: () => void } = {},
  ) {}

  guards(body: string): boolean {
    return body.includes('"call"');
  }

  async admit(): Promise<void> {
    this.events.push('admit');
    await this.answers.admit?.();
  }

  mayWrite(): boolean {
    const may = this.answers.mayWrite?.() ?? true;
    this.events.push(may ? 'may write' : 'too late');
    return may;
  }

  written(): void {
    this.events.push('written');
    this.answers.written?.();
  }

  abandoned(): void {
    this.events.push('abandoned');
  }
}

/** Gates that are all asked before any of them admits. */
export function held(count: number): { gates: RecordingGate[]; allAsked: Promise<undefined>; release: () => void } {
  const [asked, released] = [pending<undefined>(), pending<undefined>()];
  let waiting = 0;
  const admit = async (): Promise<void> => {
    waiting += 1;
    if (waiting === count) asked.resolve(undefined);
    await released.promise;
  };
  return {
    gates: Array.from({ length: count }, () => new RecordingGate({ admit })),
    allAsked: asked.promise,
    release: () => {
      released.resolve(undefined);
    },
  };
}
