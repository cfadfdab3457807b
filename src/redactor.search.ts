import { decodeJsonEscapes, decodePercent, foldCode, foldPlus } from './redactor.decoders.js';
import { secretForms } from './redactor.forms.js';
import { PatternMatcher } from './redactor.matcher.js';
import { View } from './redactor.view.js';

/** Each way of decoding, with the byte without which a text reads the same. */
const DECODERS = [
  [0x5c, decodeJsonEscapes],
  [0x25, decodePercent],
] as const;
/** JSON within JSON, a JSON body within a query: two encodings over each other are met, a third is not. */
const MAX_DECODINGS = 2;

export interface Hit {
  readonly start: number;
  readonly end: number;
}

/** Secrets with what finds them; made at the first search, since many connections are saved and few are used. */
export class SecretSet {
  #matchers: { plain: PatternMatcher; codes: PatternMatcher } | undefined;

  constructor(readonly secrets: ReadonlySet<string>) {}

  get matchers() {
    if (this.#matchers === undefined) {
      const { plain, codes } = secretForms(this.secrets);
      this.#matchers = { plain: new PatternMatcher(plain), codes: new PatternMatcher(codes) };
    }
    return this.#matchers;
  }
}

/**
 * Where secrets stand in the text, in any form: in order, without overlaps.
 * @param final false while more text may follow
 * @returns also `settled`: nothing that begins before it can still turn out to be a secret
 */
export function findSecrets(text: Uint8Array, sets: readonly SecretSet[], final: boolean) {
  const found: Hit[] = [];
  const views: View[] = [];
  let settled = text.length;

  const search = (view: View, matcher: PatternMatcher): void => {
    const hits: Hit[] = [];
    const open = matcher.scan(view.bytes, (start, end) => addHit(hits, start, end));
    for (const hit of hits) found.push({ start: view.start(hit.start), end: view.end(hit.end) });
    settled = Math.min(settled, view.start(open));
  };
  const read = (view: View, decodings: number): void => {
    const code = foldCode(view);
    views.push(view, code);
    for (const { matchers } of sets) {
      search(view, matchers.plain);
      search(code, matchers.codes);
    }
    if (decodings === MAX_DECODINGS) return;
    for (const [sign, decode] of DECODERS) {
      const decoded = view.bytes.includes(sign) ? decode(view, final) : undefined;
      if (decoded?.differs === true) read(decoded, decodings + 1);
    }
  };

  read(View.of(foldPlus(text)), 0);
  return { hits: mergeOverlaps(found), settled: final ? text.length : wholeTokens(views, settled) };
}

/** Adds a hit to a list in order of ends, joining it with those it overlaps. */
function addHit(hits: Hit[], start: number, end: number): void {
  let from = start;
  let last = hits.at(-1);
  while (last !== undefined && from < last.end) {
    from = Math.min(from, last.start);
    hits.pop();
    last = hits.at(-1);
  }
  hits.push({ start: from, end });
}

function mergeOverlaps(found: Hit[]): Hit[] {
  const merged: Hit[] = [];
  for (const hit of found.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last !== undefined && hit.start < last.end) {
      merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, hit.end) };
    } else {
      merged.push(hit);
    }
  }
  return merged;
}

/** Moves a position down until it divides no escape in any view, so that the rest reads the same alone. */
function wholeTokens(views: readonly View[], position: number): number {
  let lowest = position;
  let before: number;
  do {
    before = lowest;
    for (const view of views) lowest = view.floor(lowest);
  } while (lowest < before);
  return lowest;
}
