// Preloaded into a server of others (node --import): whatever it listens on, it is a free port of loopback, which is
// then told on standard error as `listening on <port>`.
import net from 'node:net';

const { listen } = net.Server.prototype;

net.Server.prototype.listen = function (...args) {
  const callback = args.find((argument) => typeof argument === 'function');
  this.once('listening', () => process.stderr.write(`listening on ${this.address().port}\n`));
  return listen.call(this, 0, '127.0.0.1', callback);
};
