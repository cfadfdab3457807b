import type { SealCount, SealedRepository, StoredSeal } from './sealed.repository.js';
import { sealedTables, type SealedTable } from './sealed-tables.js';
import { type SecretBox, SecretBoxError } from './secret-box.js';

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

/**
 * The same of a keyring that has all ids: whether it is their bytes that secrets were sealed under. One secret of a
 * table may be damaged, so several are tried.
 */
export async function keyBytesProblem(repository: SealedRepository, box: SecretBox): Promise<string | undefined> {
  for (const table of sealedTables) {
    for (const { keyId } of await repository.count([table])) {
      const some = await repository.someOf(table, keyId);
      if (some.length === 0 || some.some((row) => opens(box, table, row))) continue;
      return (
        `The keyring is not the one this database was sealed with: its key ${keyId} is another than the one of that ` +
        'name, which secrets are sealed under. Put that back, and give a new key a name of its own. Nothing was changed.'
      );
    }
  }
  return undefined;
}

function opens(box: SecretBox, table: SealedTable, row: StoredSeal): boolean {
  try {
    box.open(row.sealed, table.contextOf(row));
    return true;
  } catch (error) {
    if (error instanceof SecretBoxError) return false;
    throw error;
  }
}
