import { describe, expect, it } from '@jest/globals';
import { documentTerms } from './search-terms.js';
import { documentTermsOf, providerTerms, storedTerms } from './stored-terms.js';

const tool = {
  name: 'createIssue_comment',
  title: 'Comment on an issue',
  description: 'Adds a comment to an issue. Needs a token with écriture; 画像検索 is not supported.',
};
const provider = { providerId: 'git-hub', providerName: 'GitHub Server' };
const same = (word: string): string => word;

describe('stored terms', () => {
  it('come back as the terms of the tool and its provider', () => {
    const read = documentTermsOf(storedTerms(tool), providerTerms(provider.providerId, provider.providerName), same);
    const fresh = documentTerms({ ...tool, ...provider });
    for (const field of ['name', 'title', 'summary', 'description', 'provider', 'compact'] as const) {
      expect(new Set(read?.[field])).toEqual(new Set(fresh[field]));
    }
  });

  it('hold no blank, so that one text can carry them', () => {
    expect(storedTerms(tool).filter((term) => /\s/.test(term))).toEqual([]);
  });

  it('of another version are not read', () => {
    const [, ...terms] = storedTerms(tool);
    const nobody = { provider: [], compact: [] };
    expect(documentTermsOf(['=00000000', ...terms], nobody, same)).toBeUndefined();
    expect(documentTermsOf([], nobody, same)).toBeUndefined();
  });
});
