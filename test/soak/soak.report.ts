import type { Conduct } from './soak.conduct.js';
import type { Figures } from './soak.figures.js';
import type { Ledger } from './soak.ledger.js';
import { isKept, type Verdict } from './soak.verdict.js';

const MIB = 1024 * 1024;

interface Reported {
  ledger: Ledger;
  conduct: Conduct;
  before: Figures;
  after: Figures;
  verdicts: readonly Verdict[];
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints the samples, what failed by which code, and every bound with what was measured. */
export function report({ ledger, conduct, before, after, verdicts }: Reported): void {
  const began = conduct.samples[0]?.at ?? 0;
  say('\n             s   heap MiB  external MiB   RSS MiB  descriptors  database  children');
  for (const [name, figures] of [
    ['before', before],
    ...conduct.samples.map((sample) => ['', sample] as const),
    ['after', after],
  ] as const) {
    say(`${name.padEnd(7)} ${row(figures, began)}`);
  }
  say(`\nopen handles before: ${JSON.stringify(before.resources)}`);
  say(`open handles after:  ${JSON.stringify(after.resources)}`);
  const refused = [...ledger.refusals.values()].reduce((sum, count) => sum + count, 0);
  const share = (100 * ledger.answered) / Math.max(1, ledger.answered + refused);
  const [all, steady] = [conduct.loadMs / 1_000, conduct.steadyMs / 1_000];
  say(`\n${ledger.begun} calls in ${all.toFixed(0)} s, warm-up included`);
  say(
    `${conduct.steadyAnswered} answered in ${steady.toFixed(0)} s after it, ${(conduct.steadyAnswered / steady).toFixed(0)} a second`,
  );
  say(`${share.toFixed(3)} % of the load answered; the rest: ${JSON.stringify(Object.fromEntries(ledger.refusals))}`);
  for (const line of [...ledger.told, ...after.warnings]) say(`  ${line}`);
  if (conduct.trouble !== undefined) say(`  ${conduct.trouble}`);
  say('');
  for (const verdict of verdicts) say(lineOf(verdict));
}

function row(figures: Figures, began: number): string {
  const { at, heapBytes, externalBytes, rssBytes, descriptors, databaseConnections, children } = figures;
  return [
    ((at - began) / 1_000).toFixed(1).padStart(6),
    (heapBytes / MIB).toFixed(3).padStart(10),
    (externalBytes / MIB).toFixed(3).padStart(13),
    (rssBytes / MIB).toFixed(1).padStart(9),
    String(descriptors).padStart(12),
    String(databaseConnections).padStart(9),
    String(children).padStart(9),
  ].join(' ');
}

function lineOf(verdict: Verdict): string {
  const { what, measured, least, most } = verdict;
  const bound = least === undefined ? `at most ${most ?? 'any'}` : `at least ${least}`;
  const value = Number.isInteger(measured) ? String(measured) : measured.toFixed(3);
  return `${isKept(verdict) ? 'ok    ' : 'MISSED'}  ${what}: ${value} (${bound})`;
}
