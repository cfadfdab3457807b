import { describe, expect, it } from '@jest/globals';
import { HostCheck } from './host-check.js';

describe('HostCheck', () => {
  const check = new HostCheck('10.1.2.3', ['warren.example.com']);

  it.each([
    'localhost',
    'localhost:8080',
    '127.0.0.1:1',
    '[::1]:9',
    'LOCALHOST.',
    '10.1.2.3:8080',
    'Warren.Example.com',
  ])('allows the host %s', (host) => expect(check.allowsHost(host)).toBe(true));

  it.each([
    undefined,
    '',
    'evil.example.com',
    'localhost.evil.com',
    'user@localhost',
    'localhost/x',
    'localhost?x',
    'a b',
  ])('refuses the host %s', (host) => expect(check.allowsHost(host)).toBe(false));

  it.each([undefined, 'http://localhost:3000', 'https://warren.example.com'])('allows the origin %s', (origin) =>
    expect(check.allowsOrigin(origin)).toBe(true),
  );

  it.each(['null', '', 'http://evil.example.com', 'file://localhost', 'http://localhost@evil.com'])(
    'refuses the origin %s',
    (origin) => expect(check.allowsOrigin(origin)).toBe(false),
  );

  it('does not allow a wildcard listen address as a name', () => {
    expect(new HostCheck('0.0.0.0', []).allowsHost('0.0.0.0:8080')).toBe(false);
  });
});
