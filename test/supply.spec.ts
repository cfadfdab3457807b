import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
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

  it.each<[string, RequestListener, RegExp]>([
    ['is cut off', (request) => void request.socket.destroy(), /NOT DONE.*socket hang up/],
    ['finds no such endpoint', (_, answer) => void answer.writeHead(405).end(), /NOT DONE.*405/],
    ['finds a page', (_, answer) => void answer.end('<html>'), /NOT DONE.*invalid json/],
  ])('is not done, and fails nothing, when npm itself %s', async (_name, listener, words) => {
    let asked = 0;
    const registry = createServer((request, answer) => {
      asked += 1;
      listener(request, answer);
    }).listen(0, '127.0.0.1');
    await once(registry, 'listening');
    const { port } = registry.address() as AddressInfo;
    try {
      expect(await auditAt(`http://127.0.0.1:${port}/`)).toEqual([0, expect.stringMatching(words)]);
      expect(asked).toBeGreaterThan(0);
    } finally {
      registry.closeAllConnections();
      registry.close();
    }
  });

  it('is not done, and fails nothing, when nobody listens', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    expect(await auditAt(`http://127.0.0.1:${port}/`)).toEqual([0, expect.stringMatching(/NOT DONE.*ECONNREFUSED/)]);
  });
});

/** The audit of this project with the real npm, asking the registry at `url`: its exit code and all it prints. */
async function auditAt(url: string): Promise<[number | null, string]> {
  const env = { PATH: process.env['PATH'], HOME: temporaryDataDirectory(), npm_config_registry: url };
  const audit = spawn(process.execPath, ['scripts/audit.mjs'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [audit.stdout, audit.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(audit, 'close')) as [number | null];
  return [code, said];
}
