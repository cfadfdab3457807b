import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../support/eventually.js';
import { BROKEN, expectAnswer, expectCode, SEEN_WITHIN_MS, type Fault, type Scene } from './soak.fault.js';
import { PROVIDER } from './soak.house.js';

const FROZEN_MS = 1_500;
const CUTS = 4;

/** What happens to the provider or its session. */
export const providerFaults: readonly Fault[] = [
  {
    name: 'provider killed in mid-call',
    targets: ['line', 'web'],
    codes: BROKEN,
    fire: async (scene) => {
      const stuck = await scene.stuckCall();
      const pid = await pidOf(scene);
      if (scene.target === 'web') {
        await scene.house.web.kill();
        expectCode(await stuck.outcome, 'mcp_call_interrupted');
        await scene.house.web.start();
      } else {
        process.kill(pid, 'SIGKILL');
        expectCode(await stuck.outcome, 'mcp_call_interrupted');
      }
      await scene.recover();
      if ((await pidOf(scene)) === pid) throw new Error('the killed provider still runs');
    },
  },
  {
    name: 'provider frozen for a while',
    targets: ['line', 'web'],
    codes: BROKEN,
    fire: async (scene) => {
      const pid = await pidOf(scene);
      process.kill(pid, 'SIGSTOP');
      try {
        await eventually(() => {
          if (!/^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) throw new Error('not stopped');
        });
        const { number, outcome } = scene.begin('echo');
        await delay(FROZEN_MS);
        if (scene.house.arrivals.of(number).arrived) throw new Error('a frozen provider took a call');
        process.kill(pid, 'SIGCONT');
        expectAnswer(await outcome);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
    },
  },
  {
    name: 'connections cut in mid-call',
    targets: ['web'],
    codes: BROKEN,
    fire: async (scene) => {
      const { web } = scene.house;
      const { cuts } = await web.facts();
      await web.cutNext(CUTS);
      await eventually(async () => {
        await scene.call('echo');
        if ((await web.facts()).cuts < cuts + CUTS) throw new Error('not all connections were cut');
      }, SEEN_WITHIN_MS);
      await scene.recover();
    },
  },
  {
    name: 'launch settings changed',
    targets: ['line', 'web'],
    codes: [...BROKEN, 'mcp_call_cancelled'],
    fire: async (scene) => {
      const generation = `generation-${scene.turn}`;
      const before = await session(scene);
      await scene.change(
        scene.target === 'web'
          ? { headers: [{ name: 'x-generation', value: generation }] }
          : { args: [PROVIDER, 'stdio', scene.house.arrivals.directory, generation] },
      );
      await scene.recover();
      if ((await session(scene)) === before) throw new Error('the session was not opened anew');
      if (scene.target === 'web' && (await scene.house.web.facts()).generation !== generation) {
        throw new Error('the new header did not reach the provider');
      }
    },
  },
  {
    name: 'connection stopped and started',
    targets: ['line', 'web'],
    codes: [...BROKEN, 'mcp_call_cancelled'],
    fire: async (scene) => {
      const before = await session(scene);
      await scene.house.api.expect(200, 'POST', `${scene.path}/stop`);
      const { live } = await scene.house.api.expect(200, 'POST', `${scene.path}/start`);
      if (live.state !== 'connected') throw new Error(`started, and yet ${live.state}`);
      await scene.recover();
      if ((await session(scene)) === before) throw new Error('the session was not opened anew');
    },
  },
];

/** What changes with every session: the process over stdio, the count of handshakes over HTTP. */
async function session(scene: Scene): Promise<number> {
  return scene.target === 'web' ? (await scene.house.web.facts()).initializations : pidOf(scene);
}

/** The process of the provider, of a session that is open. */
async function pidOf(scene: Scene): Promise<number> {
  if (scene.target === 'web') return scene.house.web.pid;
  return eventually(async () => {
    await scene.recover();
    const [pid, ...others] = await scene.processes();
    if (pid === undefined || others.length > 0)
      throw new Error(`processes of one session: ${JSON.stringify((await scene.connection()).live)}`);
    return pid;
  }, SEEN_WITHIN_MS);
}
