import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A TLS server's key and certificate, PEM. */
export interface SelfSigned {
  key: string;
  cert: string;
}

/** Makes a self-signed certificate (X.509 version 3, ECDSA P-256), as no tool for it can be assumed on the machine. */
export function selfSigned(names: { dns?: string; ip?: readonly number[] }, validDays = 30): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid('06082a8648ce3d040302'));
  const name = sequence(der(0x31, sequence(oid('0603550403'), der(0x0c, Buffer.from('test')))));
  const alternatives = sequence(
    names.dns === undefined ? Buffer.alloc(0) : der(0x82, Buffer.from(names.dns)),
    names.ip === undefined ? Buffer.alloc(0) : der(0x87, Buffer.from(names.ip)),
  );
  const extensions = sequence(sequence(oid('0603551d11'), der(0x04, alternatives)));
  const day = 24 * 3600 * 1000;
  const [from, to] = [Date.now() - 60 * day, Date.now() + validDays * day];
  const toBeSigned = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([0x01]), randomBytes(8)])),
    algorithm,
    name,
    sequence(utcTime(from), utcTime(to)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', toBeSigned, privateKey)]);
  const certificate = sequence(toBeSigned, algorithm, der(0x03, signature));
  const lines = certificate.toString('base64').replaceAll(/(.{64})/gu, '$1\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, content: Buffer): Buffer {
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function integer(bytes: Buffer): Buffer {
  return der(0x02, bytes);
}

function oid(hexadecimal: string): Buffer {
  return Buffer.from(hexadecimal, 'hex');
}

function utcTime(time: number): Buffer {
  const digits = new Date(time).toISOString().replaceAll(/\D/gu, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}
