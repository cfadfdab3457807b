import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';

/** The same compilation as jest's. */
const OPTIONS = {
  swcrc: false,
  configFile: false,
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    target: 'es2022',
    keepClassNames: true,
  },
  module: { type: 'es6' },
  sourceMaps: 'inline',
};

/** TypeScript names its imports by the file that a build would make of them. */
export async function resolve(specifier, context, next) {
  if (specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL?.endsWith('.ts')) {
    const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    if (existsSync(source)) return { url: source.href, format: 'module', shortCircuit: true };
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  const { code } = await transformFile(fileURLToPath(url), OPTIONS);
  return { format: 'module', source: code, shortCircuit: true };
}
