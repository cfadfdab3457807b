import { eventually } from '../support/eventually.js';
import { expectAnswer, expectCode, SEEN_WITHIN_MS, type Fault, type Scene } from './soak.fault.js';
import { CALL_TIMEOUT_MS } from './soak.house.js';

/** What happens to single calls, and must not disturb any other on the same session. */
export const crossingFaults: readonly Fault[] = [
  {
    name: 'caller leaves in mid-call',
    targets: ['line', 'web'],
    codes: [],
    fire: async (scene) => {
      for (const overMcp of [false, true]) {
        const leaving = new AbortController();
        const stuck = await scene.stuckCall({ signal: leaving.signal, overMcp });
        leaving.abort();
        const { kind } = await stuck.outcome;
        if (kind !== 'left') throw new Error(`the caller left and was ${kind}`);
        await cancelledAtProvider(scene, stuck.number);
      }
    },
  },
  {
    name: 'call times out',
    targets: ['line', 'web'],
    codes: [],
    fire: async (scene) => {
      const began = performance.now();
      const stuck = await scene.stuckCall();
      expectCode(await stuck.outcome, 'mcp_call_timeout');
      if (performance.now() - began < CALL_TIMEOUT_MS) throw new Error('timed out before its time');
      await cancelledAtProvider(scene, stuck.number);
    },
  },
  {
    name: 'large results',
    targets: ['line', 'web'],
    codes: [],
    fire: async (scene) => {
      expectAnswer(await scene.call('large'));
      expectCode(await scene.call('oversize'), 'mcp_response_too_large');
      expectAnswer(await scene.call('echo'));
    },
  },
  {
    name: 'storm of changed tools',
    targets: ['line', 'web'],
    codes: [],
    fire: async (scene) => {
      expectAnswer(await scene.call('storm'));
    },
  },
];

function cancelledAtProvider(scene: Scene, number: number): Promise<void> {
  return eventually(() => {
    const { cancelled } = scene.house.arrivals.of(number);
    if (!cancelled) throw new Error('the provider was not told that the caller is gone');
  }, SEEN_WITHIN_MS);
}
