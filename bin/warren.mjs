#!/usr/bin/env node
import { existsSync } from 'node:fs';

const program = new URL('../dist/src/cli/warren.js', import.meta.url);
if (!existsSync(program)) {
  console.error('Warren is not built yet: run `npm run build` first.');
  process.exit(1);
}
const { run } = await import(program.href);
await run(process.argv);
