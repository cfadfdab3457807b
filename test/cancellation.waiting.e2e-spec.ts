import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { ChangeListener } from '../src/change-listener.js';
import { Changes } from '../src/changes.js';
import { Database } from '../src/database.js';
import { Logger } from '../src/logger.js';
import { OwnSecrets } from '../src/own-secrets.js';
import { CancellationsRepository } from '../src/runtime/cancellations.repository.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const MAX_WAITING = 200;

describe('cancellations that wait for another replica', () => {
  let test: TestDatabase;
  let repository: CancellationsRepository;
  const [here, there] = [randomUUID(), randomUUID()];

  beforeEach(async () => {
    test = await createTestDatabase();
    repository = new CancellationsRepository(new Database(test.pool()));
  });

  afterEach(() => test.drop());

  const replica = (id: string) => test.pool().query('insert into instances (id) values ($1)', [id]);
  const age = (seconds: number) =>
    test
      .pool()
      .query('update call_cancellations set cancelled_at = cancelled_at - make_interval(secs => $1)', [seconds]);

  it('are not kept where there is no other replica, or none that lives', async () => {
    await replica(here);
    await repository.leave(here, 'ada', 'key');
    await replica(there);
    await test.pool().query(`update instances set seen_at = now() - interval '21 seconds' where id = $1`, [there]);
    await repository.leave(here, 'ada', 'key');
    expect(await repository.waiting(['ada'])).toEqual([]);
  });

  it('are found by the agents whose calls are open, with their age', async () => {
    await replica(there);
    await repository.leave(here, 'ada', 'one');
    await repository.leave(here, 'eve', 'two');
    await age(30);
    await repository.leave(here, 'ada', 'three');
    const waiting = await repository.waiting(['ada', 'bob']);
    expect(waiting.map(({ callKey }) => callKey).toSorted()).toEqual(['one', 'three']);
    const [one, three] = ['one', 'three'].map((key) => waiting.find(({ callKey }) => callKey === key)?.ageMs ?? 0);
    expect(one).toBeGreaterThanOrEqual(30_000);
    expect(three).toBeGreaterThanOrEqual(0);
    expect(three).toBeLessThan(30_000);
    expect(await repository.waiting([])).toEqual([]);
  });

  it('are bounded for each agent and gone after a minute', async () => {
    await replica(there);
    const count = async (): Promise<number> => (await repository.waiting(['ada', 'eve'])).length;
    for (let key = 0; key < MAX_WAITING + 10; key += 1) await repository.leave(here, 'ada', String(key));
    expect(await count()).toBe(MAX_WAITING);
    await repository.leave(here, 'eve', 'key');
    expect(await count()).toBe(MAX_WAITING + 1);
    await age(60);
    expect(await count()).toBe(0);
    await repository.leave(here, 'ada', 'one more');
    const { rows } = await test.pool().query('select count(*)::int as count from call_cancellations');
    expect([await count(), rows[0].count]).toEqual([1, 1]);
  });

  it('are told to those who wait for them, and to nobody else', async () => {
    await replica(there);
    const heard: string[] = [];
    const changes = new Changes();
    changes.subscribe(async () => void heard.push('permissions'));
    let hear = (): void => undefined;
    changes.subscribe(async () => {
      heard.push('cancellations');
      hear();
    }, 'cancellations');
    const logger = new Logger('silent', new OwnSecrets([]));
    const listener = new ChangeListener(test.connectionString, changes, logger);
    await listener.onApplicationBootstrap();
    try {
      // what happened while nobody listened
      expect(heard).toEqual(['permissions', 'cancellations']);
      const told = new Promise<void>((resolve) => (hear = resolve));
      await repository.leave(here, 'ada', 'key');
      await told;
      // the same again at once says nothing new; on a slow machine it is not at once
      await age(-30);
      await repository.leave(here, 'ada', 'key');
      const again = new Promise<void>((resolve) => (hear = resolve));
      await repository.leave(here, 'ada', 'another');
      await again;
      expect(heard.slice(2)).toEqual(['cancellations', 'cancellations']);
    } finally {
      await listener.onModuleDestroy();
    }
  });
});
