import { readFile, writeFile } from 'node:fs/promises';
import type { CredentialsService } from '../credentials.service.js';

/** The token kept in a file of mode 0600 while it still works, else a new one, kept there from now on. */
export async function keptToken(
  file: string,
  credentials: CredentialsService,
  issue: () => Promise<string>,
): Promise<string> {
  const kept = await readFile(file, 'utf8').then(
    (text) => text.trim(),
    () => '',
  );
  if (kept !== '' && (await credentials.authenticate(kept)) !== undefined) return kept;
  const token = await issue();
  await writeFile(file, `${token}\n`, { mode: 0o600 });
  return token;
}
