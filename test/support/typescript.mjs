/**
 * `node --import ./test/support/typescript.mjs file.ts` runs TypeScript from source, so that a test can start a process of
 * Warren's own code without a build.
 */
import { register } from 'node:module';

register('./typescript-loader.mjs', import.meta.url);
