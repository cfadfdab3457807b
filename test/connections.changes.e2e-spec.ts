import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { admin, operator } from './support/author.js';
import {
  type ConnectionsBench,
  type ConnectionsRoom,
  http,
  openConnectionsBench,
  refused,
  stdio,
} from './support/connections-bench.js';

const API_KEY = 'sk-live-0123456789abcdef';

let bench: ConnectionsBench;
let changes: ConnectionsRoom['changes'];
let connections: ConnectionsRoom['connections'];
let sessions: ConnectionsRoom['sessions'];
let announced: ConnectionsRoom['announced'];

beforeAll(async () => {
  bench = await openConnectionsBench();
});

afterAll(() => bench.close());

beforeEach(async () => {
  await bench.empty();
  ({ changes, connections, sessions, announced } = bench.room());
});

describe('creating', () => {
  it('makes an id of the name, unique also for two at once', async () => {
    const created = await Promise.all(
      ['Git Hub', 'git-hub', 'GIT HUB', 'git hub'].map((name) => changes.create(admin, http(name))),
    );
    expect(created.map(({ id }) => id).toSorted()).toEqual(['git-hub', 'git-hub-2', 'git-hub-3', 'git-hub-4']);
  });

  it('refuses a taken id and a taken name, and leaves nothing behind', async () => {
    await changes.create(admin, http('One', { id: 'one' }));
    await expect(changes.create(admin, http('Two', { id: 'one' }))).rejects.toEqual(refused('connection_conflict'));
    await expect(changes.create(admin, http('One'))).rejects.toEqual(refused('connection_name_conflict'));
    await expect(changes.create(admin, http('Audience', { sealedAudience: ['nowhere'] }))).rejects.toEqual(
      refused('sealed_audience_unknown'),
    );
    expect((await changes.create(admin, http('one'))).name).toBe('one');
    expect((await connections.list({})).items.map(({ id }) => id)).toEqual(['one', 'one-2']);
  });

  it('asks for the scope that fits the transport', async () => {
    await expect(changes.create(operator('write'), stdio('a'))).rejects.toEqual(refused('forbidden'));
    await expect(changes.create(operator('launch'), http('b'))).rejects.toEqual(refused('forbidden'));
    await changes.create(operator('launch'), stdio('c'));
    await changes.create(operator('write'), http('d'));
  });

  it('keeps to the stdio policy', async () => {
    ({ changes } = bench.room({ WARREN_STDIO_COMMANDS: 'npx -y @scope/pkg@1.2.3' }));
    await expect(changes.create(admin, stdio('a'))).rejects.toEqual(refused('stdio_not_allowed'));
    const body = stdio('b', { command: 'npx', args: ['-y', '@scope/pkg@1.2.3', '--x'] });
    const { id } = await changes.create(admin, body);
    await expect(changes.change(admin, id, { args: ['-y', 'other'] })).rejects.toEqual(refused('stdio_not_allowed'));
    const environmentVariables = [{ name: 'NODE_OPTIONS', value: '--x' }];
    await expect(changes.change(admin, id, { environmentVariables })).rejects.toEqual(
      refused('environment_variable_reserved'),
    );
  });

  it('lets its sealed values go to itself and to tools of others', async () => {
    await changes.create(admin, http('other', { id: 'other' }));
    const body = http('self', { id: 'self', sealedAudience: ['self', 'other/tool/with/slashes'] });
    expect((await changes.create(admin, body)).sealedAudience).toEqual(['self', 'other/tool/with/slashes']);
  });
});

describe('changing', () => {
  it('does not deadlock with the deletion', async () => {
    for (let round = 0; round < 25; round += 1) {
      const id = `round-${round}`;
      await changes.create(admin, http(id, { id }));
      const patches = Array.from({ length: 8 }, (_, index) =>
        changes.change(admin, id, { name: `${id}-${index}`, callTimeoutMs: 10_000 + index }),
      );
      const outcomes = await Promise.allSettled([
        ...patches.slice(4),
        changes.delete(admin, id),
        ...patches.slice(0, 4),
      ]);
      const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
      expect(refusals).toEqual(refusals.map(() => refused('connection_not_found')));
      expect((await connections.list({})).items).toEqual([]);
    }
  });

  it('loses no update of two at once, and counts both', async () => {
    await changes.create(admin, http('c', { id: 'c' }));
    await Promise.all([
      changes.change(admin, 'c', { callTimeoutMs: 1 }),
      changes.change(admin, 'c', { allowTools: ['x'] }),
      changes.change(admin, 'c', { maxSessions: 2 }),
      changes.change(admin, 'c', { enabled: false }),
    ]);
    expect(await connections.require('c')).toMatchObject({
      callTimeoutMs: 1,
      allowTools: ['x'],
      maxSessions: 2,
      enabled: false,
      revision: 5,
    });
  });

  it('lets one of many through that name the same revision', async () => {
    await changes.create(admin, http('c', { id: 'c' }));
    const outcomes = await Promise.allSettled(
      [1, 2, 3, 4, 5].map((callTimeoutMs) => changes.change(admin, 'c', { callTimeoutMs }, '"1"')),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))).toEqual(
      Array.from({ length: 4 }, () => refused('stale_revision')),
    );
  });

  it.each([
    ['a rename', { name: 'renamed' }, [], 0, false],
    ['a timeout', { callTimeoutMs: 5 }, [], 0, false],
    ['a tool filter', { denyTools: ['x'] }, [], 1, false],
    ['disabling', { enabled: false }, ['stop c'], 1, true],
    ['a key', { apiKey: 'sk-live-another-key' }, ['stop c'], 1, true],
    ['the same again', { enabled: true }, [], 1, false],
  ] as const)('%s ends sessions only where it must', async (_what, body, asked, announcements, newLaunch) => {
    const before = await changes.create(admin, http('c', { id: 'c' }));
    const after = await changes.change(admin, 'c', structuredClone(body) as object);
    expect(sessions.asked).toEqual(asked);
    expect(announced()).toBe(announcements);
    expect(after.launchRevision !== before.launchRevision).toBe(newLaunch);
  });

  it('asks for launch where it decides what runs', async () => {
    await changes.create(admin, stdio('c', { id: 'c' }));
    await expect(changes.change(operator('write'), 'c', { command: 'deno' })).rejects.toEqual(refused('forbidden'));
    await expect(changes.change(operator('launch'), 'c', { name: 'd' })).rejects.toEqual(refused('forbidden'));
    await changes.change(operator('launch'), 'c', { command: 'deno' });
    await changes.change(operator('write'), 'c', { name: 'd', command: 'deno' });
    expect(await connections.require('c')).toMatchObject({ name: 'd', command: 'deno', revision: 3 });
  });

  it('refuses a taken name and changes nothing', async () => {
    await changes.create(admin, http('one', { id: 'one' }));
    await changes.create(admin, http('two', { id: 'two' }));
    const body = { name: 'one', callTimeoutMs: 7 };
    await expect(changes.change(admin, 'two', body)).rejects.toEqual(refused('connection_name_conflict'));
    expect(await connections.require('two')).toMatchObject({ name: 'two', callTimeoutMs: 30_000, revision: 1 });
  });

  it('waits for an admission in progress before it disables', async () => {
    await changes.create(admin, http('c', { id: 'c' }));
    const admitting = await bench.database.pool.connect();
    try {
      await admitting.query('begin');
      await admitting.query(`select pg_advisory_xact_lock_shared(1, hashtext('c'))`);
      let done = false;
      const disabling = changes.change(admin, 'c', { enabled: false }).then(() => {
        done = true;
      });
      // a change that takes nothing away goes through meanwhile
      await changes.change(admin, 'c', { callTimeoutMs: 9 });
      expect(done).toBe(false);
      await admitting.query('commit');
      await disabling;
    } finally {
      admitting.release();
    }
  });

  it('knows nothing of ids that cannot be', async () => {
    for (const id of ['nowhere', '', 'a\0b', 'x'.repeat(200)]) {
      await expect(connections.require(id)).rejects.toEqual(refused('connection_not_found'));
      await expect(changes.change(admin, id, {})).rejects.toEqual(refused('connection_not_found'));
      await expect(changes.delete(admin, id)).rejects.toEqual(refused('connection_not_found'));
    }
  });
});

describe('deleting', () => {
  it('takes the rows, tells the others and ends the sessions', async () => {
    await changes.create(admin, http('c', { id: 'c', apiKey: API_KEY }));
    await changes.delete(admin, 'c');
    expect(sessions.asked).toEqual(['forget c']);
    expect(announced()).toBe(1);
    await expect(connections.require('c')).rejects.toEqual(refused('connection_not_found'));
    const { rows } = await bench.database.pool.query('select from connection_secrets');
    expect(rows).toEqual([]);
  });
});
