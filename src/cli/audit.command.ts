import { offlineAuditLog } from '../audit.offline.js';
import { formatAuditHead, parseAuditHead } from '../audit.verification.js';
import type { Config } from '../config.js';
import { besideServer } from './beside-server.js';

/** `warren audit head`: prints where the log ends now, to be kept where nobody who can edit the database can edit it. */
export async function printAuditHead({ settings }: Config): Promise<void> {
  const head = await besideServer(settings, (platform) => offlineAuditLog(platform).head());
  if (head === undefined) throw new Error('the audit log is empty');
  console.log(formatAuditHead(head));
}

/** `warren audit verify`: checks the log, also against a head; the exit code is 1 when something is wrong. */
export async function verifyAudit({ settings }: Config, headText: string | undefined): Promise<void> {
  const noted = headText === undefined ? undefined : parseAuditHead(headText);
  if (headText !== undefined && noted === undefined) {
    throw new Error('--head takes what `warren audit head` printed: <sequence>:<64 hex digits>');
  }
  const { head, problems, problemCount } = await besideServer(settings, (platform) =>
    offlineAuditLog(platform).verify(noted),
  );
  for (const problem of problems) console.error(problem);
  if (problemCount > 0) throw new Error(`the audit log is not intact: ${problemCount} problems`);
  console.log(`the audit log is intact: ${head?.sequence ?? 0} entries`);
  if (noted === undefined) {
    console.log('entries cut off at its end show only against a head noted earlier: warren audit verify --head …');
  }
}
