import { describe, expect, it } from '@jest/globals';
import { platformProblem } from './embedded-postgres.platform.js';

describe('the platforms of the embedded database', () => {
  it.each([
    ['linux', 'x64', '2.36'],
    ['linux', 'arm64', '2.39'],
    ['darwin', 'arm64', undefined],
    ['darwin', 'x64', undefined],
  ])('runs on %s-%s', (system, architecture, glibc) => {
    expect(platformProblem({ system, architecture, glibc })).toBeUndefined();
  });

  it('names musl as the reason on Alpine', () => {
    expect(platformProblem({ system: 'linux', architecture: 'x64', glibc: undefined })).toMatch(/musl.*DATABASE_URL/);
  });

  it.each([
    ['win32', 'x64'],
    ['linux', 's390x'],
    ['freebsd', 'x64'],
  ])('refuses %s-%s by name', (system, architecture) => {
    expect(platformProblem({ system, architecture, glibc: '2.36' })).toContain(
      `for ${system}-${architecture}. Set DATABASE_URL`,
    );
  });
});
