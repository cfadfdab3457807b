// A stdio MCP provider that replays one recorded catalog: node catalog-provider.mjs <catalog.json>
// Every message that arrives is appended to the file FAKE_LOG, if set, as one JSON line.
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const catalog = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const logFile = process.env.FAKE_LOG;

const record = (entry) => {
  if (logFile) appendFileSync(logFile, `${JSON.stringify({ time: Date.now(), pid: process.pid, ...entry })}\n`);
};
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

/** The page that follows the one whose `nextCursor` was `cursor`; the first page without a cursor. */
function pageAt(cursor) {
  if (cursor === undefined) return catalog.pages[0];
  const before = catalog.pages.findIndex((page) => page.nextCursor === cursor);
  return before === -1 ? undefined : catalog.pages[before + 1];
}

function answer(method, params) {
  switch (method) {
    case 'initialize':
      return {
        result: {
          ...catalog.initialize,
          protocolVersion: catalog.initialize?.protocolVersion ?? params?.protocolVersion,
        },
      };
    case 'ping':
      return { result: {} };
    case 'tools/list': {
      const page = pageAt(params?.cursor);
      return page ? { result: page } : { error: { code: -32602, message: 'Unknown cursor' } };
    }
    case 'tools/call': {
      const { name, arguments: given = {} } = params ?? {};
      if (!catalog.pages.some((page) => page.tools.some((tool) => tool.name === name))) {
        return { error: { code: -32602, message: 'Unknown tool' } };
      }
      return { result: { content: [{ type: 'text', text: JSON.stringify({ tool: name, arguments: given }) }] } };
    }
    default:
      return { error: { code: -32601, message: 'Method not found' } };
  }
}

record({ event: 'start', catalog: process.argv[2] });
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  if (line.trim() === '') return;
  const { id, method, params } = JSON.parse(line);
  record({ event: 'message', id, method, params });
  if (id !== undefined && method !== undefined) send({ id, ...answer(method, params) });
});
lines.on('close', () => record({ event: 'end' }));
