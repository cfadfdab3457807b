import { createServer } from 'node:tls';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Lookup } from '../src/safe-fetch.resolve.js';
import { answer, closeAll, failure, listen, type Listening, safeFetch, tcpServer } from './safe-fetch.servers.js';
import { type SelfSigned, selfSigned } from './self-signed-certificate.js';

afterEach(closeAll);

const local: Lookup = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);

async function tlsServer(certificate: SelfSigned): Promise<Listening & { names: (string | false | null)[] }> {
  const names: (string | false | null)[] = [];
  const server = createServer(certificate, (socket) => {
    names.push(socket.servername);
    socket.once('data', () => socket.end(answer('secret')));
  });
  server.on('tlsClientError', () => undefined);
  return { ...(await listen(server, '127.0.0.1')), names };
}

describe('TLS', () => {
  it('refuses a certificate that nobody vouches for', async () => {
    const server = await tlsServer(selfSigned({ dns: 'provider.test' }));
    const url = `https://provider.test:${String(server.port)}/`;
    const error = await failure(safeFetch({ lookup: local }).fetch(url));
    expect(error).toMatchObject({ reason: 'tls_verification_failed', sent: 'no' });
    expect(error.message).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
    expect(await failure(safeFetch({ lookup: local }).warm(url))).toMatchObject({ reason: 'tls_verification_failed' });
    expect(server.names).toEqual([]);
  });

  it('checks the certificate against the name of the URL, not against the address dialled', async () => {
    const certificate = selfSigned({ dns: 'provider.test' });
    const server = await tlsServer(certificate);
    const safe = safeFetch({ lookup: local, authorities: [certificate.cert] });
    const port = String(server.port);
    const response = await safe.fetch(`https://provider.test:${port}/`);
    expect(await response.text()).toBe('secret');
    for (const host of ['other.test', '127.0.0.1']) {
      const error = await failure(safe.fetch(`https://${host}:${port}/`));
      expect(error).toMatchObject({ reason: 'tls_verification_failed', sent: 'no' });
    }
    expect(server.names).toEqual(['provider.test']);
  });

  it('ignores a Host header that names another site', async () => {
    const certificate = selfSigned({ dns: 'provider.test' });
    const server = await tlsServer(certificate);
    const safe = safeFetch({ lookup: local, authorities: [certificate.cert] });
    await safe.fetch(`https://provider.test:${String(server.port)}/`, { headers: { host: 'other.test' } });
    expect(server.names).toEqual(['provider.test']);
  });

  it('takes a certificate for an address, without naming the address in the handshake', async () => {
    const certificate = selfSigned({ ip: [127, 0, 0, 1] });
    const server = await tlsServer(certificate);
    const safe = safeFetch({ authorities: [certificate.cert] });
    const response = await safe.fetch(`https://127.0.0.1:${String(server.port)}/`);
    expect(await response.text()).toBe('secret');
    expect(server.names).toEqual([false]);
  });

  it('refuses an expired certificate', async () => {
    const certificate = selfSigned({ dns: 'provider.test' }, -1);
    const server = await tlsServer(certificate);
    const safe = safeFetch({ lookup: local, authorities: [certificate.cert] });
    expect(await failure(safe.fetch(`https://provider.test:${String(server.port)}/`))).toMatchObject({
      reason: 'tls_verification_failed',
      message: expect.stringContaining('CERT_HAS_EXPIRED'),
    });
  });

  it('bounds the handshake, and names a peer that speaks no TLS', async () => {
    const silent = await tcpServer(() => undefined);
    const quick = safeFetch({ limits: { connectMs: 50 } });
    expect(await failure(quick.fetch(`https://127.0.0.1:${String(silent.port)}/`))).toMatchObject({
      reason: 'connection_timeout',
      sent: 'no',
    });
    const plain = await tcpServer((socket) => socket.end(answer('plain')));
    expect(await failure(safeFetch().fetch(`https://127.0.0.1:${String(plain.port)}/`))).toMatchObject({
      reason: 'tls_verification_failed',
      sent: 'no',
    });
  });
});
