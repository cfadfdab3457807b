import { describe, expect, it } from '@jest/globals';
import { findAccount } from './embedded-postgres.account.js';

const ROOT = 'root:x:0:0:root:/root:/bin/sh';
const NOBODY = 'nobody:x:65534:65533:nobody:/nonexistent:/usr/sbin/nologin';
const POSTGRES = 'postgres:x:101:104::/var/lib/postgresql:/bin/bash';

describe('the user that root lends the database', () => {
  it.each([
    ['postgres before nobody', [ROOT, NOBODY, POSTGRES, ''], { uid: 101, gid: 104 }],
    ['nobody when there is no postgres', [ROOT, NOBODY, ''], { uid: 65_534, gid: 65_533 }],
    ['nobody when postgres is root in disguise', ['postgres:x:0:0::/:/bin/sh', NOBODY], { uid: 65_534, gid: 65_533 }],
    ['no one when there is neither', [ROOT, 'postgresql:x:7:7::/:/bin/sh'], undefined],
  ])('is %s', (_, lines, expected) => {
    expect(findAccount(lines.join('\n'))).toEqual(expected);
  });
});
