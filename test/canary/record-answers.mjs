// Loaded into a Warren before itself: node --import=record-answers.mjs?file=… . Writes down every byte that its HTTP
// servers send.
import { closeSync, openSync, writeSync } from 'node:fs';
import { Server } from 'node:http';

/** Bytes kept of one Warren; what is beyond is counted at the end of the file. */
const MAX_BYTES = 64 * 1024 * 1024;

const file = new URL(import.meta.url).searchParams.get('file');
const output = openSync(file, 'a');
let size = 0;
let cut = 0;

function keep(chunk, encoding) {
  if (chunk === null || chunk === undefined || typeof chunk === 'function') return;
  const bytes =
    typeof chunk === 'string' ? Buffer.from(chunk, typeof encoding === 'string' ? encoding : 'utf8') : chunk;
  const kept = bytes.subarray(0, Math.max(0, MAX_BYTES - size));
  if (kept.length > 0) writeSync(output, kept);
  size += kept.length;
  cut += bytes.length - kept.length;
}

const emit = Reflect.get(Server.prototype, 'emit');
Server.prototype.emit = function emitTapped(event, ...args) {
  if (event === 'connection') {
    const [socket] = args;
    for (const name of ['write', 'end']) {
      const original = socket[name];
      socket[name] = function tapped(chunk, encoding, ...rest) {
        keep(chunk, encoding);
        return original.call(this, chunk, encoding, ...rest);
      };
    }
  }
  return emit.call(this, event, ...args);
};

process.on('exit', () => {
  if (cut > 0) writeSync(output, `\nbytes cut from this recording: ${cut}\n`);
  closeSync(output);
});
