// The provider of the soak: node provider.mjs stdio <arrivals directory> [anything]
//                       or: node provider.mjs http <arrivals directory> [port]
// Each tool takes `n`, a number no other call has, and answers with it first: `echo` nothing more, `large` 200,000
// characters, `oversize` more than Warren reads in this soak, `storm` 200 notices that its tools changed before it, and
// `slow` never.
import { arrivalsOf } from './arrivals.mjs';
import { serveHttp } from './provider.http.mjs';
import { serveStdio } from './provider.stdio.mjs';

const [transport, directory, port = '0'] = process.argv.slice(2);
const arrivals = arrivalsOf(directory);
const NOTICES = 200;
const TOOLS_CHANGED = { method: 'notifications/tools/list_changed' };
const inputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
const tools = ['echo', 'slow', 'large', 'oversize', 'storm'].map((name) => ({ name, inputSchema }));
const text = (value) => ({ content: [{ type: 'text', text: value }] });

/**
 * What to send for a request: the messages before the answer, and the answer, which `slow` and notifications have none
 * of.
 */
function answer({ id, method, params }) {
  switch (method) {
    case 'initialize': {
      const serverInfo = { name: 'soak', version: '1.0.0' };
      const capabilities = { tools: { listChanged: true } };
      return { result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } };
    }
    case 'tools/list':
      return { result: { tools } };
    case 'ping':
      return { result: {} };
    case 'tools/call':
      arrivals.arrived(params.arguments.n);
      return call(params.name, params.arguments.n);
    default:
      return id === undefined ? {} : { error: { code: -32601, message: 'Method not found' } };
  }
}

function call(tool, n) {
  switch (tool) {
    case 'slow':
      return {};
    case 'large':
      return { result: text(`${n} ${'x'.repeat(200_000)}`) };
    case 'oversize':
      return { result: text(`${n} ${'x'.repeat(1_500_000)}`) };
    case 'storm':
      return { notices: Array.from({ length: NOTICES }, () => ({ ...TOOLS_CHANGED })), result: text(`${n}`) };
    default:
      return { result: text(`${n}`) };
  }
}

if (transport === 'http') serveHttp(Number(port), answer, arrivals);
else serveStdio(answer, arrivals);
