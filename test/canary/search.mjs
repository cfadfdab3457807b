/**
 * Looks for canaries in what a Warren left behind. It shares nothing with Warren's redactor: it knows that every canary
 * holds one core, and how encoders write that core.
 */

/** What every canary of the tests holds, whatever stands around it. Twelve bytes, so that each spelling is long. */
export const CORE = 'wCanary7Q2xK';

/** The longest spelling of a canary around its core, bytes; what is shown of a hit. */
const AROUND = 48;

/** Every way the core is written: as it is (also in JSON and in a URL), in hex, in base64 at each alignment. */
export const SPELLINGS = spellingsOf(CORE);

/** The same for any secret; for one of several lines, each line by itself as well. */
export function spellingsOf(secret) {
  const lines = secret.split(/[\r\n]+/).filter((line) => line.length >= 8);
  const found = new Map();
  for (const text of [secret, ...lines]) {
    for (const [form, spelling] of formsOf(text)) {
      if (!found.has(spelling)) found.set(spelling, { form, bytes: Buffer.from(spelling) });
    }
  }
  return [...found.values()];
}

function formsOf(text) {
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].flatMap((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    // without the characters that what stands beside it decides
    const [from, to] = [Math.ceil((offset * 8) / 6), Math.floor((shifted.length * 8) / 6)];
    return ['base64', 'base64url'].map((encoding) => [
      `${encoding} +${offset}`,
      shifted.toString(encoding).slice(from, to),
    ]);
  });
  const query = new URLSearchParams({ '': text }).toString().slice(1);
  return [
    ['plain', text],
    ['json', JSON.stringify(text).slice(1, -1)],
    ['url', encodeURIComponent(text)],
    ['query', query],
    ['hex', hex],
    ['HEX', hex.toUpperCase()],
    ...base64,
  ];
}

/** Where the core stands in these bytes, in any spelling: the form, the place, and what is around it. */
export function findCanaries(bytes, spellings = SPELLINGS) {
  return spellings.flatMap(({ form, bytes: needle }) => {
    const hits = [];
    for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + 1)) {
      const around = bytes.subarray(Math.max(0, at - AROUND), at + needle.length + AROUND).toString('latin1');
      hits.push({ form, at, around });
    }
    return hits;
  });
}
