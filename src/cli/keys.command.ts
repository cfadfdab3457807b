import { migrations } from '../../migrations/index.js';
import { Changes } from '../changes.js';
import type { Config } from '../config.js';
import { CredentialsRepository } from '../credentials.repository.js';
import { CredentialsService } from '../credentials.service.js';
import { openPlatform, type Platform } from '../platform.js';
import type { OperatorScope } from '../principal.js';

interface KeyRequest {
  scopes: OperatorScope[];
  name: string;
  expiresAt: string | undefined;
}

/** `warren keys create`: prints the key alone on standard output, so that a script can take it. */
export async function createKey({ settings }: Config, request: KeyRequest): Promise<void> {
  const platform = await openPlatform(settings, migrations);
  try {
    const { token } = await credentialsOf(platform).issueOperatorKey(request.name, request.scopes, request.expiresAt);
    console.log(token);
  } finally {
    await platform.close();
  }
}

/** The credentials service without a server around it. */
function credentialsOf({ database, serverSecrets }: Platform): CredentialsService {
  return new CredentialsService(new CredentialsRepository(database), serverSecrets, database, new Changes());
}
