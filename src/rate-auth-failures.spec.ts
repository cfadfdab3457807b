import { describe, expect, it } from '@jest/globals';
import { AuthFailures, networkOf } from './rate-auth-failures.js';

function failing(times: number, address = '10.0.0.1', perMinute = 3): AuthFailures {
  const failures = new AuthFailures(perMinute);
  for (let time = 0; time < times; time += 1) failures.failed(address);
  return failures;
}

describe('failed authentications', () => {
  it('are bounded for each address', () => {
    expect(failing(2).waitMs('10.0.0.1', 'any')).toBe(0);
    expect(failing(3).waitMs('10.0.0.1', 'any')).toBeGreaterThan(15_000);
    expect(failing(1_000).waitMs('10.0.0.1', 'any')).toBeLessThanOrEqual(20_000);
    expect(failing(1_000).waitMs('10.0.0.2', 'any')).toBe(0);
  });

  it('do not shut out a token that was let in from the same address', () => {
    const failures = failing(2);
    failures.succeeded('10.0.0.1', 'good');
    failures.succeeded('10.0.0.2', 'of another address');
    failures.failed('10.0.0.1');
    expect(failures.waitMs('10.0.0.1', 'good')).toBe(0);
    expect(failures.waitMs('10.0.0.1', 'good.')).toBeGreaterThan(0);
    expect(failures.waitMs('10.0.0.1', 'of another address')).toBeGreaterThan(0);
  });

  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2:ffff::1'],
    [undefined, 'no address'],
  ])('take %s for %s', (one, other) => expect(networkOf(one)).toBe(networkOf(other)));

  it('tell neighbouring networks apart', () => {
    expect(networkOf('2001:db8:1:2::1')).not.toBe(networkOf('2001:db8:1:3::1'));
    expect(networkOf('10.0.0.1')).not.toBe(networkOf('10.0.0.2'));
  });
});
