// Asks the registry for known faults of the packages that Warren runs on. One that SECURITY.md does not argue by its id
// ends this with 1. A registry that answers no such questions (a mirror, say) is told of and no failure.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const ID = /GHSA-[a-z0-9]{4}-[a-z0-9]{4}-[a-z0-9]{4}/g;
// npm's own limit of five minutes is longer than ours: a registry that hangs would look like a fault here
const { stdout, error } = spawnSync(
  'npm',
  ['audit', '--omit=dev', '--json', '--fetch-timeout=30000', '--fetch-retries=0'],
  {
    encoding: 'utf8',
    timeout: 60_000,
    maxBuffer: 64 * 1024 * 1024,
  },
);
if (error !== undefined) throw error;
const report = JSON.parse(stdout);
if (report.vulnerabilities === undefined) {
  const { message, error: fault } = report;
  // What is wrong here has a code (no lock file, say). An endpoint that is missing or not reached has a message only.
  if (fault?.code !== undefined || typeof message !== 'string') throw new Error(`npm audit failed: ${fault?.summary}`);
  console.log(`audit: NOT DONE. The registry of this machine answers no audit: ${message}`);
} else {
  judge(report.vulnerabilities);
}

function judge(vulnerabilities) {
  const argued = new Set(readFileSync('SECURITY.md', 'utf8').match(ID) ?? []);
  const advisories = new Map();
  for (const { via } of Object.values(vulnerabilities)) {
    // a string names the package through which it comes
    for (const one of via) if (typeof one === 'object') advisories.set(one.url.match(ID)?.[0] ?? one.url, one);
  }
  for (const [id, { name, severity, title }] of advisories) {
    console.log(`audit: ${argued.has(id) ? 'accepted in SECURITY.md' : 'FOUND'}: ${id} ${name} (${severity}) ${title}`);
  }
  const found = [...advisories.keys()].filter((id) => !argued.has(id));
  console.log(`audit: ${advisories.size} advisories, ${found.length} of them not argued in SECURITY.md`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
