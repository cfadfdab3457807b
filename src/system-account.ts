import { readFileSync } from 'node:fs';

/** A user of this system, as /etc/passwd has it. */
export interface SystemAccount {
  name: string;
  uid: number;
  gid: number;
}

/** The account of that name, or undefined. */
export function findSystemAccount(name: string): SystemAccount | undefined {
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [user, , uid, gid] = line.split(':');
    if (user === name) return { name, uid: Number(uid), gid: Number(gid) };
  }
  return undefined;
}
