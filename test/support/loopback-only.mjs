// Preloaded into a server of others (node --import): whatever it listens on, it is a free port of loopback, which is
// then told on standard error as `listening on <port>`.
import net from 'node:net';

const original = Object.getOwnPropertyDescriptor(net.Server.prototype, 'listen')?.value;

net.Server.prototype.listen = function (...args) {
  const callback = args.find((argument) => typeof argument === 'function');
  this.once('listening', () => process.stderr.write(`listening on ${this.address().port}\n`));
  return original.call(this, 0, '127.0.0.1', callback);
};
