import type { Migration } from '../src/migrator.js';

/** The key ids each process holds, the current one first: secrets are re-sealed only under a key that all of them hold. */
export const secretRotation: Migration = {
  name: '0010-secret-rotation',
  up: `
alter table instances add column key_ids text[] not null default '{}';
`,
};
