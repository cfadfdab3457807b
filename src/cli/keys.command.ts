import type { Config } from '../config.js';
import { offlineCredentials } from '../credentials.offline.js';
import type { OperatorScope } from '../principal.js';
import { besideServer } from './beside-server.js';

interface KeyRequest {
  scopes: OperatorScope[];
  name: string;
  expiresAt: string | undefined;
}

/** `warren keys create`: prints the key alone on standard output, so that a script can take it. */
export async function createKey({ settings }: Config, { name, scopes, expiresAt }: KeyRequest): Promise<void> {
  const { token } = await besideServer(settings, (platform) => {
    return offlineCredentials(platform).issueOperatorKey({ kind: 'command' }, name, scopes, expiresAt);
  });
  console.log(token);
}
