import { sha256Hex } from '../canonical-json.js';
import { documentTerms, type DocumentTerms } from './search-terms.js';

/** The fields whose words belong to the tool alone; those of the provider are added when its index is loaded. */
const FIELDS = ['name', 'title', 'summary', 'description', 'compact'] as const satisfies (keyof DocumentTerms)[];
const FIELD_OF_MARK = new Map<string, (typeof FIELDS)[number]>(FIELDS.map((field) => [field.charAt(0), field]));

interface ToolTexts {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
}

/** Words of every sort that the making of terms treats in its own way. */
const PROBE: ToolTexts = {
  name: 'getURLs_forHTTPServer',
  title: 'Listing créated 画像検索 queries',
  description: "Stopped boxes don't matched, making studies. The user's databases and classes are running nicely.",
};

/** Which way of making terms the stored ones came from; another version of it must not be mixed with this one. */
export const TERMS_VERSION = `=${sha256Hex(JSON.stringify(documentTerms(asDocument(PROBE)))).slice(0, 8)}`;

/** The words of a tool as one list for its row: the version, then each word behind the first letter of its field. */
export function storedTerms(tool: ToolTexts): string[] {
  const terms = documentTerms(asDocument(tool));
  return [TERMS_VERSION, ...FIELDS.flatMap((field) => terms[field].map((term) => `${field.charAt(0)}${term}`))];
}

/**
 * Reads them back, with the words of the provider; undefined for terms of another version. `share` answers the one
 * copy of a word that is kept in memory.
 */
export function documentTermsOf(
  stored: readonly string[],
  provider: Pick<DocumentTerms, 'provider' | 'compact'>,
  share: (word: string) => string,
): DocumentTerms | undefined {
  if (stored[0] !== TERMS_VERSION) return undefined;
  const terms: DocumentTerms = {
    name: [],
    title: [],
    summary: [],
    description: [],
    provider: provider.provider,
    compact: [],
  };
  for (const entry of stored) {
    const field = FIELD_OF_MARK.get(entry.charAt(0));
    if (field !== undefined) terms[field].push(share(entry.slice(1)));
  }
  terms.compact.push(...provider.compact);
  return terms;
}

/** The words of a provider's id and name. */
export function providerTerms(providerId: string, providerName: string): Pick<DocumentTerms, 'provider' | 'compact'> {
  const { provider, compact } = documentTerms({ providerId, providerName, name: '' });
  return { provider, compact };
}

function asDocument({ name, title = '', description = '' }: ToolTexts): Parameters<typeof documentTerms>[0] {
  return { providerId: '', providerName: '', name, title, description };
}
