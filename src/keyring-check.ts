import type { SealCount, SealedRepository } from './sealed.repository.js';
import { sealedTables } from './sealed-tables.js';
import type { SecretBox } from './secret-box.js';

/** What keeps a keyring from being used with a database, in words for an operator; undefined when nothing does. */
export async function keyringProblem(repository: SealedRepository, box: SecretBox): Promise<string | undefined> {
  return missingKeys(await repository.count(sealedTables), box.keyIds);
}

/** The same of counts; pure. */
export function missingKeys(counts: readonly SealCount[], keyIds: readonly string[]): string | undefined {
  const missing = counts.filter(({ keyId }) => !keyIds.includes(keyId));
  if (missing.length === 0) return undefined;
  const ids = [...new Set(missing.map(({ keyId }) => keyId))];
  const secrets = missing.reduce((sum, { count }) => sum + count, 0);
  const what = `${ids.length === 1 ? 'the key' : 'the keys'} ${ids.join(', ')}, under which ${secrets} ${secrets === 1 ? 'secret is' : 'secrets are'} sealed`;
  return (
    `The keyring is not the one this database was sealed with: it lacks ${what}. Put it back; ` +
    'to retire a key, keep it behind the new one and run `warren secrets rotate` first. Nothing was changed.'
  );
}
