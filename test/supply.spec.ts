import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryDataDirectory } from './support/temporary-data-directory.js';

const PROJECTS = ['.', 'test/conformance'];
const REGISTRY = 'https://registry.npmjs.org/';

interface Locked {
  version?: string;
  integrity?: string;
  resolved?: string;
  link?: boolean;
}

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

function read(project: string, file: string): unknown {
  return JSON.parse(readFileSync(path.join(project, file), 'utf8'));
}

describe.each(PROJECTS)('the packages of %s', (project) => {
  it('are asked for by their exact version', () => {
    const { dependencies, devDependencies } = read(project, 'package.json') as Manifest;
    const asked = Object.entries({ ...dependencies, ...devDependencies });
    expect(asked.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });

  it('come from the registry and nowhere else, each with its checksum', () => {
    const { packages } = read(project, 'package-lock.json') as { packages: Record<string, Locked> };
    const locked = Object.entries(packages).filter(([name]) => name !== '');
    expect(locked.length).toBeGreaterThan(100);
    expect(locked.filter(([, one]) => !isFromRegistry(one)).map(([name]) => name)).toEqual([]);
  });

  it('run no script when they are installed', () => {
    expect(readFileSync(path.join(project, '.npmrc'), 'utf8')).toMatch(/^ignore-scripts=true$/m);
  });
});

/** A lock file that leaves the address out means the registry; anything else has to name its own. */
function isFromRegistry({ version, integrity, resolved, link }: Locked): boolean {
  const isPublished = version !== undefined && integrity?.startsWith('sha512-') === true;
  return isPublished && link === undefined && (resolved === undefined || resolved.startsWith(REGISTRY));
}

it.each<[string, Locked]>([
  ['git', { version: '1.0.0', resolved: 'git+ssh://git@github.com/a/b.git#0123' }],
  ['another host', { version: '1.0.0', integrity: 'sha512-a', resolved: 'https://example.com/a.tgz' }],
  ['a folder', { resolved: '../a', link: true }],
  ['a package without a checksum', { version: '1.0.0' }],
])('does not take %s for the registry', (_name, locked) => {
  expect(isFromRegistry(locked)).toBe(false);
});

const ADVISORY = 'GHSA-aaaa-bbbb-cccc';
const via = [{ url: `https://github.com/advisories/${ADVISORY}`, name: 'left', severity: 'high', title: 'Bad' }];
const found = { vulnerabilities: { left: { via }, right: { via: ['left'] } } };

describe('the audit', () => {
  it.each<[string, unknown, string, number, RegExp]>([
    ['nothing found', { vulnerabilities: {} }, '', 0, /0 advisories, 0 of them not argued/],
    ['something found', found, '', 1, /FOUND: GHSA-aaaa-bbbb-cccc left \(high\) Bad\n.*1 advisories, 1 of them/],
    ['something found and argued', found, `- ${ADVISORY}: not reached.`, 0, /accepted.*\n.*1 advisories, 0 of them/],
    ['no such endpoint', { message: '405 Method Not Allowed', statusCode: 405 }, '', 0, /NOT DONE.*405/],
    ['no network', { error: { code: 'ENOTFOUND', summary: 'no registry' } }, '', 0, /NOT DONE.*no registry/],
    ['a broken lock file', { error: { code: 'ENOLOCK', summary: 'no lock' } }, '', 1, /npm audit failed: no lock/],
  ])('ends as it should with %s', (_name, report, security, code, words) => {
    const directory = temporaryDataDirectory();
    writeFileSync(path.join(directory, 'SECURITY.md'), security);
    writeFileSync(path.join(directory, 'npm'), `#!/bin/sh\ncat <<'END'\n${JSON.stringify(report)}\nEND\nexit 1\n`);
    chmodSync(path.join(directory, 'npm'), 0o755);
    const { status, stdout, stderr } = spawnSync(process.execPath, [path.resolve('scripts/audit.mjs')], {
      cwd: directory,
      env: { PATH: `${directory}:${process.env['PATH']}` },
      encoding: 'utf8',
    });
    expect(stdout + stderr).toMatch(words);
    expect(status).toBe(code);
  });
});
