/** English words that say nothing about which tool is wanted. */
const COMMON_WORDS = new Set(
  `a about all also am an and any are as at be been before being but by can could did do does doing each every for from
  had has have having he her here him his how i if in into is it its just let many may me might more most much my need
  needs no not of often on one only onto or other our ours out over please see shall she should so some somewhere than that
  the that their them then there these they this those through to too under up upon us use used using via very want
  wants was we were what when where which while who whom whose why will with would you your yours`.split(/\s+/),
);

/** Words an agent and a tool author use for the same thing. Small on purpose: general vocabulary, no product names. */
const SYNONYM_GROUPS = [
  'create add new make insert generate',
  'delete remove drop destroy erase',
  'list get show display retrieve fetch view read',
  'get extract scrape',
  'text content',
  'search find query lookup',
  'update edit modify change patch set',
  'send post publish',
  'save store write',
  'remember add create',
  'run execute start launch',
  'stop close cancel terminate kill',
  'compute calculate evaluate',
  'picture image photo screenshot',
  'folder directory',
  'document doc',
  'web internet website online',
  'chart graph plot diagram',
  'issue ticket bug',
  'error exception crash',
  'link url address',
  'repository repo',
  'database db',
  'authenticate login',
  'person people user',
];

/** Whether a lower-case word is too common to search for. */
export function isCommonWord(word: string): boolean {
  return COMMON_WORDS.has(word);
}

/** Stems of the other words of the word's group; empty for most words. */
export function synonymsOf(stem: string): readonly string[] {
  return SYNONYMS.get(stem) ?? [];
}

/**
 * A light stem: plural, -ing, -ed, final -e and doubled final letters go, so that forms of a word meet. Only for words
 * of the Latin alphabet; the result need not be a word.
 */
export function stemOf(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  let stem = word;
  if (stem.endsWith('ies')) stem = `${stem.slice(0, -3)}y`;
  else if (/(?:ss|x|z|ch|sh)es$/.test(stem)) stem = stem.slice(0, -2);
  else if (/[^su]s$/.test(stem) && !stem.endsWith('is')) stem = stem.slice(0, -1);
  if (/[aeiouy].*ing$/.test(stem) && stem.length > 5) stem = stem.slice(0, -3);
  else if (/[aeiouy].*ed$/.test(stem) && stem.length > 4) stem = stem.slice(0, -2);
  if (stem.length > 3 && stem.endsWith('e')) stem = stem.slice(0, -1);
  if (stem.length > 3 && stem.at(-1) === stem.at(-2)) stem = stem.slice(0, -1);
  return stem;
}

const SYNONYMS = new Map<string, readonly string[]>();
for (const group of SYNONYM_GROUPS) {
  const stems = group.split(' ').map(stemOf);
  for (const stem of stems) {
    const others = stems.filter((other) => other !== stem);
    SYNONYMS.set(stem, [...(SYNONYMS.get(stem) ?? []), ...others]);
  }
}
