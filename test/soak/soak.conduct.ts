import { setTimeout as delay } from 'node:timers/promises';
import { disturbed, Scene, type Fault } from './soak.fault.js';
import type { Figures } from './soak.figures.js';
import type { SoakForm } from './soak.forms.js';
import type { House } from './soak.house.js';
import type { Ledger } from './soak.ledger.js';
import { Load } from './soak.load.js';
import type { FaultWindows } from './soak.windows.js';
import { inWords } from './soak.words.js';

/** What the soak did and saw while it lasted. */
export interface Conduct {
  samples: Figures[];
  /** How often each fault was seen to happen. */
  fired: Map<string, number>;
  loadMs: number;
  /** Of the part after the warm-up, milliseconds, and the calls answered in it. */
  steadyMs: number;
  steadyAnswered: number;
  /** What was not seen to happen as it should; with it all ended. */
  trouble: string | undefined;
}

interface Parts {
  house: House;
  ledger: Ledger;
  windows: FaultWindows;
  faults: readonly Fault[];
  form: SoakForm;
  /** Told of each fault and sample as it happens. */
  say: (line: string) => void;
  /** Where to write heap snapshots of the first and the last sample, to find out what grows. */
  snapshots: string | undefined;
}

/**
 * Load, and one fault after the other: until the process is warm, then for as long as the form says, with a sample of
 * the quiet process now and then. Ends early with a fault that was not seen to happen.
 */
export async function conduct({ house, ledger, windows, faults, form, say, snapshots }: Parts): Promise<Conduct> {
  const callers = await house.callers(form.callers);
  const began = performance.now();
  const load = new Load(ledger, callers, form.callsPerSecond);
  const fired = new Map<string, number>();
  const samples: Figures[] = [];
  let trouble: string | undefined;
  let steadyFrom = performance.now();
  let answeredBefore = 0;
  const seconds = (): string => ((performance.now() - began) / 1_000).toFixed(1).padStart(6);

  const fire = async (turn: number): Promise<void> => {
    const fault = faults[turn % faults.length];
    if (fault === undefined) throw new Error('there are no faults');
    // each round takes the other target
    const target = fault.targets[Math.floor(turn / faults.length) % fault.targets.length] ?? 'line';
    const close = windows.open(fault.name, disturbed(target), fault.codes);
    try {
      await fault.fire(new Scene(house, ledger, target, turn));
    } catch (error) {
      throw new Error(`the fault "${fault.name}" of ${target} did not go as it should`, { cause: error });
    } finally {
      close();
    }
    fired.set(fault.name, (fired.get(fault.name) ?? 0) + 1);
    say(`${seconds()} s  ${fault.name} (${target}), ${ledger.answered} calls answered`);
  };
  const sample = async (snapshot?: string): Promise<void> => {
    await load.hold();
    const path = snapshots !== undefined && snapshot !== undefined ? `${snapshots}/${snapshot}.heapsnapshot` : '';
    samples.push(await house.figures.read(path));
    load.resume();
  };

  /** A fault, and the pause until the next one is due. */
  const step = async (turn: number): Promise<void> => {
    const next = performance.now() + (turn < faults.length ? form.warmFaultEveryMs : form.faultEveryMs);
    await fire(turn);
    await delay(Math.max(0, next - performance.now()));
  };
  const isCold = (): boolean => ledger.answered < form.warmCalls && performance.now() - began < form.warmAtMostMs;

  try {
    let turn = 0;
    for (; turn < faults.length || isCold(); turn += 1) await step(turn);
    await sample('first');
    steadyFrom = performance.now();
    answeredBefore = ledger.answered;
    for (let count = 1; count <= faults.length || performance.now() - steadyFrom < form.steadyMs; count += 1) {
      await step(turn);
      turn += 1;
      if (count % form.faultsPerSample === 0) await sample();
    }
    await sample('last');
  } catch (error) {
    trouble = inWords(error);
  } finally {
    await load.stop();
    for (const caller of callers) await caller.close();
  }
  const end = performance.now();
  const steadyAnswered = ledger.answered - answeredBefore;
  return { samples, fired, loadMs: end - began, steadyMs: end - steadyFrom, steadyAnswered, trouble };
}
