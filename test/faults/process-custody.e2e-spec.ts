import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { monitorEventLoopDelay, performance, type IntervalHistogram } from 'node:perf_hooks';
import { Instance } from '../../src/instance.js';
import { ProcessTable } from '../../src/process-table.js';
import { Redactor } from '../../src/redactor.js';
import { Subprocess } from '../../src/subprocess.js';
import { eventually } from '../support/eventually.js';
import { processesIn } from '../support/processes.js';
import { temporaryDataDirectory } from '../support/temporary-data-directory.js';

/** Deaf to TERM, as its children are from their birth. */
const DEAF = 'trap "" TERM;';

/** What the leader starts, in `sh`. Each ends up as one process, known by how long it sleeps. */
const litter = {
  'child of the group': `(${DEAF} exec sleep 6001) &`,
  'child of a session of its own': 'setsid sleep 6002 &',
  'deaf child of a session of its own': `(${DEAF} exec setsid sleep 6003) &`,
  'daemon, whose parent left': '(setsid sh -c "sleep 6004 & exit 0" &) ;',
  'deaf daemon': `(${DEAF} setsid sh -c "sleep 6005 & exit 0" &) ;`,
  'daemon of a daemon': '(setsid sh -c "(setsid sh -c \\"sleep 6006 & exit 0\\" &) ; exit 0" &) ;',
} as const;

/** Only a leader that lives tells whose child this is. */
const bare = { 'child without its environment': 'env -i setsid sleep 6007 &' } as const;

const endings = [
  { ending: 'is stopped', end: (child: Subprocess) => void child.stop(), started: { ...litter, ...bare } },
  { ending: 'leaves by itself', end: (child: Subprocess) => void child.stdin.write('leave\n'), started: litter },
  { ending: 'is killed', end: (child: Subprocess) => void process.kill(child.pid, 'SIGKILL'), started: litter },
];

/** Pipes and sockets of this process; the test runner opens and closes files meanwhile. */
function openDescriptors(): number {
  const kinds = readdirSync('/proc/self/fd').map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      // closed meanwhile, such as the one this list was read by
      return '';
    }
  });
  return kinds.filter((kind) => /^(pipe|socket):/.test(kind)).length;
}

describe('a process that ends', () => {
  const instance = new Instance();
  let directory: string;

  beforeEach(() => {
    directory = temporaryDataDirectory();
  });

  afterEach(() => {
    for (const { pid } of processesIn(directory)) process.kill(pid, 'SIGKILL');
  });

  async function launch(started: Record<string, string>): Promise<Subprocess> {
    const child = await Subprocess.launch({
      command: 'sh',
      args: ['-c', `${Object.values(started).join(' ')} echo ready; read line`],
      environment: { PATH: process.env['PATH'] ?? '', WARREN_CHILD: instance.nextChildMarker() },
      workingDirectory: directory,
      redactor: Redactor.empty,
      searchPath: process.env['PATH'] ?? '',
    });
    await once(child.stdout, 'data');
    return child;
  }

  /** The names in `started` of those that live, each as often as it does. */
  function living(started: Record<string, string>): string[] {
    const sleeping = processesIn(directory).map(({ command }) => /^sleep (\d+)/.exec(command)?.[1]);
    return Object.entries(started)
      .flatMap(([name, script]) =>
        sleeping.filter((time) => time !== undefined && script.includes(time)).map(() => name),
      )
      .toSorted();
  }

  it('leaves no pipe open that somebody who got away still holds', async () => {
    const before = openDescriptors();
    const children = await Promise.all(Array.from({ length: 5 }, () => launch(bare)));
    await eventually(() => expect(living(bare)).toHaveLength(5));
    expect(openDescriptors()).toBeGreaterThan(before + 10);
    for (const child of children) child.stdin.write('leave\n');
    await Promise.all(children.map(({ ended }) => ended));
    // the fault has to fire: they live, with our pipes as their output
    expect(living(bare)).toHaveLength(5);
    await eventually(() => {
      expect(children.map(({ stdin, stdout }) => stdin.destroyed && stdout.destroyed)).not.toContain(false);
      expect(openDescriptors()).toBeLessThanOrEqual(before);
    }, 20_000);
    expect(living(bare)).toHaveLength(5);
  });

  it.each(endings)(
    'and $ending leaves nothing of what it started, and others alone',
    async ({ ending, end, started }) => {
      const [child, other] = await Promise.all([launch(started), launch(started)]);
      const names = Object.keys(started).toSorted();
      await eventually(() => expect(living(started)).toEqual([...names, ...names].toSorted()));
      const begun = performance.now();
      end(child);
      await child.ended;
      const took = performance.now() - begun;
      process.stdout.write(`all that a process started was gone ${took.toFixed(0)} ms after it ${ending}\n`);
      expect(living(started)).toEqual(names);
      expect(took).toBeLessThan(5_000);
      await other.stop();
      expect(processesIn(directory)).toEqual([]);
    },
  );

  it('asks each process once, and gives it a second to leave in order', async () => {
    const told = `trap 'echo told >> told; sleep 0.5; exit 0' TERM; echo ready >> ready; while :; do sleep 0.05; done`;
    const child = await launch({ group: `(${told}) &`, stray: `setsid sh -c "${told.replaceAll('"', '')}" &` });
    await eventually(async () => expect(await readFile(`${directory}/ready`, 'utf8')).toBe('ready\nready\n'));
    await child.stop();
    expect(await readFile(`${directory}/told`, 'utf8')).toBe('told\ntold\n');
    expect(processesIn(directory)).toEqual([]);
  });

  it('is not held up when it leaves nothing', async () => {
    const child = await launch({});
    child.stdin.end();
    await child.ended;
    const begun = performance.now();
    await child.stop();
    expect(performance.now() - begun).toBeLessThan(900);
  });
});

describe('a reading of all processes', () => {
  it('sees what was started before it, and shares one reading among those who ask at once', async () => {
    const table = new ProcessTable();
    const earlier = table.read();
    const shared = [table.read(), table.read()];
    const [first, second, third] = await Promise.all([earlier, ...shared]);
    expect(first?.find(({ pid }) => pid === process.pid)).toMatchObject({ parent: process.ppid });
    expect(second).toBe(third);
    expect(await table.read()).not.toBe(second);
  });

  it('costs little and holds nothing up', async () => {
    const table = ProcessTable.ofDescendants();
    const delays: IntervalHistogram = monitorEventLoopDelay({ resolution: 1 });
    const times: number[] = [];
    let processes = 0;
    await table.read();
    delays.enable();
    const before = process.cpuUsage();
    for (let reading = 0; reading < 50; reading += 1) {
      const begun = performance.now();
      processes = (await table.read()).length;
      times.push(performance.now() - begun);
    }
    const { user, system } = process.cpuUsage(before);
    delays.disable();
    const median = times.toSorted((a, b) => a - b)[25] ?? 0;
    const cpu = (user + system) / 1_000 / times.length;
    process.stdout.write(
      `one reading of ${processes} processes: median ${median.toFixed(1)} ms, ${cpu.toFixed(1)} ms of CPU, ` +
        `event loop held at most ${(delays.max / 1e6).toFixed(1)} ms\n`,
    );
    expect(processes).toBeGreaterThan(1);
    expect(median).toBeLessThan(1_000);
  });
});
