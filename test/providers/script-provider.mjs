// A stdio MCP provider that follows a script: node script-provider.mjs <script.json>, read anew at every request.
// { "pages": [{tools, nextCursor?} | {"exit": code} | {"error": {code, message}} | {"silent": true}], "stderr"?: text,
//   "exitAtStart"?: code, "listChangedAfterList"?: true }
// The cursor is the number of the page. A page's "exitOnce": path exits only while that file does not exist.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const read = () => JSON.parse(readFileSync(process.argv[2], 'utf8'));
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const record = (entry) => {
  if (process.env.FAKE_LOG) appendFileSync(process.env.FAKE_LOG, `${JSON.stringify(entry)}\n`);
};

const start = read();
if (start.stderr) process.stderr.write(start.stderr);
if (start.exitAtStart !== undefined) process.exit(start.exitAtStart);

function list(id, cursor) {
  const { pages, listChangedAfterList } = read();
  const place = cursor === undefined ? 0 : Number(cursor);
  const page = pages[place] ?? { tools: [] };
  record({ event: 'list', place });
  if (page.exit !== undefined) process.exit(page.exit);
  if (page.exitOnce !== undefined && !existsSync(page.exitOnce)) {
    writeFileSync(page.exitOnce, '');
    process.exit(1);
  }
  if (page.silent) return;
  const next = place + 1 < pages.length ? { nextCursor: String(place + 1) } : {};
  send(page.error ? { id, error: page.error } : { id, result: { tools: page.tools, ...next } });
  if (listChangedAfterList) send({ method: 'notifications/tools/list_changed' });
}

record({ event: 'start' });
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line.trim() === '') return;
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  if (method === 'initialize') {
    const serverInfo = { name: 'script', version: '1.0.0' };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list') list(id, params?.cursor);
  else if (method === 'ping') send({ id, result: {} });
  else send({ id, error: { code: -32601, message: 'Method not found' } });
});
