// A stdio MCP provider that gives away what it was started with, in every form and wherever it says something:
// node telltale-provider.mjs [secret…]. Environment: every variable named TELL…; FAILING: `start` to end at its start.
import { createInterface } from 'node:readline';
import { sayings } from './telltale-sayings.mjs';

const told = Object.entries(process.env).filter(([name]) => name.startsWith('TELL'));
const secrets = [...told.map(([, value]) => value), ...process.argv.slice(2)];
const telling = sayings(secrets);
const { said } = telling;

// in pieces, which cut every form somewhere
for (let at = 0; at < said.length; at += 7) process.stderr.write(said.slice(at, at + 7));
process.stderr.write('\n');
if (process.env.FAILING === 'start') process.exit(1);
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  for (const reply of telling.answer(message)) process.stdout.write(`${JSON.stringify(reply)}\n`);
});
