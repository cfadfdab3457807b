import { isSpec, isTest } from './rooms.js';
import type { SourceFile } from './source-file.js';
import type { Violation } from './violation.js';

/** Where outside packages may be imported. */
interface Owner {
  packages: string[];
  files: RegExp;
  /** Folder in which one further file may import them. */
  alsoOnce?: string;
  /** Folder in which any file may name their types. */
  typesIn?: string;
}

const OWNERS: Owner[] = [
  { packages: ['execa'], files: /^src\/subprocess[\w.-]*\.ts$/ },
  { packages: ['node:child_process'], files: /^src\/(subprocess|embedded-postgres)[\w.-]*\.ts$/ },
  { packages: ['libsodium-wrappers'], files: /^src\/secret-box[\w.-]*\.ts$/ },
  { packages: ['undici'], files: /^src\/safe-fetch[\w.-]*\.ts$/ },
  { packages: ['@modelcontextprotocol/client'], files: /^src\/connections\/session\// },
  { packages: ['@modelcontextprotocol/server', '@modelcontextprotocol/node'], files: /^src\/runtime\/mcp/ },
  { packages: ['pg'], files: /^src\/(database[\w.-]*|migrator|embedded-postgres[\w.-]*)\.ts$/ },
  { packages: ['embedded-postgres'], files: /^src\/embedded-postgres[\w.-]*\.ts$/ },
  {
    packages: ['ajv', 'ajv-formats'],
    files: /^src\/catalog\/schema-compiler[\w.-]*\.ts$/,
    alsoOnce: 'src/runtime/',
    typesIn: 'src/catalog/',
  },
  { packages: ['re2js'], files: /^src\/catalog\/linear-pattern\.ts$/ },
  { packages: ['commander'], files: /^src\/cli\// },
  { packages: ['pino'], files: /^src\/logger\.ts$/ },
  { packages: ['jose'], files: /^src\/oauth[\w.-]*\.ts$/ },
  { packages: ['prom-client'], files: /^src\/metrics\.ts$/ },
];

/** Each outside package has one owner in the product; tests may use what they like. */
export function checkOwners(files: readonly SourceFile[]): Violation[] {
  const product = files.filter(({ path }) => !isTest(path) && !isSpec(path));
  return OWNERS.flatMap((owner) => {
    const strangers = product.filter((file) => !owner.files.test(file.path) && uses(file, owner));
    const guests = strangers.filter(({ path }) => owner.alsoOnce !== undefined && path.startsWith(owner.alsoOnce));
    return strangers
      .filter((file) => guests.length > 1 || !guests.includes(file))
      .map(({ path }) => ({
        rule: 'package-owner' as const,
        file: path,
        detail: `${owner.packages.join(' or ')} belongs to ${owner.files.source}`,
      }));
  });
}

function uses({ path, imports }: SourceFile, owner: Owner): boolean {
  const mayNameTypes = owner.typesIn !== undefined && path.startsWith(owner.typesIn);
  return imports.some(({ packageName, typeOnly }) => {
    if (packageName === undefined || (typeOnly && mayNameTypes)) return false;
    return owner.packages.some((name) => packageName === name || `node:${packageName}` === name);
  });
}
