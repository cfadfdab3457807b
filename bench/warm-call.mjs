// Measures one warm call after the other: `node bench/warm-call.mjs [calls]` after `npm run build`. Starts a Warren on an
// embedded database of its own with the real server-everything over stdio, keep_alive, and prints the times of `mcp_call`
// over REST and over /mcp, in milliseconds.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const calls = Number(process.argv[2] ?? 500);
const WARM_UP = 50;
const CALL = { provider: 'everything', tool: 'echo', arguments: { message: 'warm' } };

const root = mkdtempSync(path.join(process.getuid?.() === 0 ? '/tmp' : tmpdir(), 'warren-bench-'));
// under root PostgreSQL runs as another user, who must be able to pass through
chmodSync(root, 0o711);
const began = performance.now();
const warren = spawn(process.execPath, [fileURLToPath(new URL('../bin/warren.mjs', import.meta.url)), 'quickstart'], {
  env: { PATH: process.env.PATH, HOME: root, PORT: '0', WARREN_DATA_DIR: path.join(root, 'data') },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = once(warren, 'exit');
try {
  const output = await told(/Ctrl-C stops everything/);
  console.log(`quickstart, cold      ${Math.round(performance.now() - began)} ms`);
  const [, url] = /serves at (http:\S+)/.exec(output);
  const [token] = /\bwag_\w+/.exec(output);
  report('REST, sequential', await measure(overRest(url, token)));
  const client = new Client({ name: 'bench', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }));
  report('/mcp, sequential', await measure(() => client.callTool({ name: 'mcp_call', arguments: CALL })));
  await client.close();
} finally {
  warren.kill('SIGINT');
  await ended;
  rmSync(root, { recursive: true, force: true });
}

/** Everything it wrote so far, once it wrote this. */
async function told(pattern) {
  let output = '';
  for await (const chunk of warren.stdout) {
    output += chunk;
    if (pattern.test(output)) break;
  }
  return output;
}

function overRest(url, token) {
  const request = {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(CALL),
  };
  return async () => {
    const answer = await (await fetch(`${url}/api/agents/demo/menu/mcp_call`, request)).json();
    if (!answer.ok) throw new Error(JSON.stringify(answer));
  };
}

async function measure(call) {
  for (let at = 0; at < WARM_UP; at += 1) await call();
  const times = [];
  for (let at = 0; at < calls; at += 1) {
    const started = performance.now();
    await call();
    times.push(performance.now() - started);
  }
  return times.toSorted((a, b) => a - b);
}

function report(name, times) {
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(2);
  console.log(`${name.padEnd(20)}  p50 ${at(0.5)}  p95 ${at(0.95)}  p99 ${at(0.99)} ms, ${times.length} calls`);
}
