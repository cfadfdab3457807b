// A stdio MCP provider whose tool `look` tells what it sees of the process it runs in; values of variables and arguments
// as SHA-256. To be started as `sh -c '<STARTER>' sh <arguments>`, which lists the descriptors before Node opens its own.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const hashed = (value) => createHash('sha256').update(value).digest('hex');

function environment() {
  const entries = readFileSync('/proc/self/environ', 'utf8')
    .split('\0')
    .filter((entry) => entry !== '');
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf('=')), hashed(entry.slice(entry.indexOf('=') + 1))]),
  );
}

function look() {
  const status = readFileSync('/proc/self/status', 'utf8');
  const numbers = (name) => new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(status)?.[1].split(/\s+/).map(Number) ?? [];
  const [, , group, session] = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return {
    environment: environment(),
    descriptors: process.argv[2]
      .split('\n')
      .flatMap((line) => /(\d+) -> (.*)$/.exec(line)?.slice(1, 3).join(' ') ?? []),
    arguments: process.argv.slice(3).map(hashed),
    workingDirectory: process.cwd(),
    workingDirectoryHolds: readdirSync('.'),
    users: numbers('Uid'),
    groups: [...numbers('Gid'), ...numbers('Groups').filter((id) => id > 0)],
    leadsItsGroup: Number(group) === process.pid,
    leadsItsSession: Number(session) === process.pid,
  };
}

const tool = { name: 'look', inputSchema: { type: 'object' } };
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const answers = {
    initialize: () => ({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'mirror', version: '1' },
    }),
    'tools/list': () => ({ tools: [tool] }),
    'tools/call': () => ({ content: [{ type: 'text', text: JSON.stringify(look()) }] }),
    ping: () => ({}),
  };
  const answer = answers[method];
  if (id === undefined) return;
  const body = answer === undefined ? { error: { code: -32601, message: 'no such method' } } : { result: answer() };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`);
});
