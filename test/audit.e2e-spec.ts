import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { auditSteps, type AuditStep, makeReady, WATCHED_TABLES } from './audit.steps.js';
import { nameOf, routeTable } from './route-access.table.js';
import { startWarren, type TestWarren } from './support/warren.js';
import { WarrenCommand } from './support/warren-command.js';

let warren: TestWarren;
let pool: pg.Pool;

beforeAll(async () => {
  warren = await startWarren();
  pool = warren.database.pool();
});

beforeEach(() => makeReady(warren.api, pool));

afterAll(async () => {
  await warren.stop();
});

interface Row {
  sequence: string;
  action: string;
  target_kind: string;
  target_id: string;
  actor: { kind: string; id: string | null };
  request_id: string | null;
  outcome: string;
}

async function rowsAfter(sequence: number): Promise<Row[]> {
  const { rows } = await pool.query<Row>('select * from audit_log where sequence > $1 order by sequence', [sequence]);
  return rows;
}

async function lastSequence(): Promise<number> {
  const { rows } = await pool.query<{ last: string }>('select coalesce(max(sequence), 0) as last from audit_log');
  return Number(rows[0]?.last);
}

/** What the tables of operators' things hold, apart from what providers and the clock change. */
async function contents(): Promise<Record<string, unknown>> {
  const held: Record<string, unknown> = {};
  for (const [table, left] of Object.entries(WATCHED_TABLES)) {
    const { rows } = await pool.query(`select to_jsonb(t) - $1::text[] as row from ${table} as t order by 1`, [left]);
    held[table] = rows;
  }
  return held;
}

/** What a step that fails must leave as it was; a discovery that is not stored may leave its session open. */
async function stateFor({ action }: AuditStep): Promise<unknown> {
  const { body } = await warren.api.get('/api/connections/kept');
  return { tables: await contents(), session: action === 'connection.start' ? body.live.state : 'any' };
}

function send({ method, path, body }: AuditStep): ReturnType<TestWarren['api']['send']> {
  return warren.api.send(method, path, body, {});
}

describe('every change an operator can make', () => {
  it('is in the table of steps below', () => {
    const changing = routeTable.filter(({ method, access, documented }) => {
      return documented && method !== 'GET' && access !== 'agent' && access !== 'mcp';
    });
    expect([...new Set(auditSteps.map(({ route }) => route))].toSorted()).toEqual(changing.map(nameOf).toSorted());
  });

  it.each(auditSteps)('$name: one entry, with who, what and by which request', async (step) => {
    const before = await lastSequence();
    const answer = await send(step);
    expect(answer.status).toBeLessThan(300);
    const written = await rowsAfter(before);
    const target = typeof step.target === 'function' ? step.target(answer.body as { id: string }) : step.target;
    expect(written).toMatchObject([
      {
        action: step.action,
        target_kind: target.kind,
        target_id: target.id,
        actor: { kind: 'operator', id: warren.adminKey.split('_')[1] },
        request_id: answer.headers.get('x-request-id'),
        outcome: step.outcome ?? 'done',
      },
    ]);
    expect(JSON.stringify(written)).not.toContain('super-secret');
  });

  describe('without room for its entry', () => {
    beforeEach(async () => {
      await pool.query(`
        create function refuse_entry() returns trigger language plpgsql as $$
          begin raise exception 'no more entries'; end $$;
        create trigger refuse_entry before insert on audit_log execute function refuse_entry()`);
    });

    afterEach(async () => {
      await pool.query('drop trigger refuse_entry on audit_log; drop function refuse_entry()');
    });

    it.each(auditSteps)('$name: does not happen', async (step) => {
      const before = await stateFor(step);
      const answer = await send(step);
      expect(answer).toMatchObject({ status: step.told ?? 500 });
      expect(await stateFor(step)).toEqual(before);
    });
  });

  it('leaves no entry when it changed nothing', async () => {
    const before = await lastSequence();
    await warren.api.expect(200, 'PATCH', '/api/connections/kept', { name: 'Kept' });
    await warren.api.expect(200, 'PATCH', '/api/agents/reader', { name: 'Reader' });
    await warren.api.expect(200, 'PATCH', '/api/agents/reader/mcp-tools', {
      remove: [{ connectionId: 'kept', toolName: 'x' }],
    });
    await warren.api.expect(409, 'POST', '/api/agents', { id: 'reader', name: 'Another' });
    await warren.api.expect(404, 'DELETE', '/api/keys/000000000000');
    expect(await rowsAfter(before)).toEqual([]);
  });
});

describe('an entry', () => {
  it('shows what changed as it was and is, secrets by name and URLs without their query', async () => {
    await warren.api.expect(201, 'POST', '/api/connections', {
      id: 'web',
      name: 'Web',
      transport: 'http',
      baseUrl: 'https://a.example/mcp?team=super-secret-1',
      apiKey: 'super-secret-2',
      headers: [{ name: 'X-Team', value: 'super-secret-3' }],
    });
    await warren.api.expect(200, 'PATCH', '/api/connections/web', {
      callTimeoutMs: 1_000,
      headers: [{ name: 'X-Team', value: 'super-secret-4' }],
    });
    const { body } = await warren.api.get('/api/audit?targetKind=connection&targetId=web');
    expect(body.items).toMatchObject([
      {
        action: 'connection.update',
        before: { revision: 1, callTimeoutMs: 30_000 },
        after: { revision: 2, callTimeoutMs: 1_000, secretsSaved: ['headers.X-Team'] },
      },
      {
        action: 'connection.create',
        before: null,
        after: { name: 'Web', baseUrl: 'https://a.example/mcp', secrets: ['apiKey', 'headers.X-Team'] },
      },
    ]);
    expect(Object.keys(body.items[0].before).toSorted()).toEqual(['callTimeoutMs', 'revision']);
    expect(JSON.stringify(body)).not.toContain('super-secret');
  });

  it("holds no secret of Warren's own and no token, wherever an operator puts one", async () => {
    const { key } = await warren.api.expect(201, 'POST', '/api/keys', { name: 'writes', scopes: ['write'] });
    const before = await lastSequence();
    for (const name of [warren.adminKey, key]) {
      await warren.api.as(key).expect(201, 'POST', '/api/agents', { id: 'teller', name });
      await warren.api.as(key).expect(204, 'DELETE', '/api/agents/teller');
    }
    const { rows } = await pool.query<{ named: string }>(
      `select coalesce(after, before) ->> 'name' as named from audit_log where sequence > $1`,
      [before],
    );
    expect(rows.map(({ named }) => named)).toEqual(Array.from({ length: 4 }, () => '[redacted]'));
  });

  it('of grants names what each agent got and lost', async () => {
    await warren.api.expect(200, 'PUT', '/api/agents/reader/mcp-tools', {
      tools: [{ connectionId: 'kept', toolName: 'delete_entities' }],
    });
    const { body } = await warren.api.get('/api/audit?action=grants.change&targetId=reader&limit=1');
    expect(body.items[0]).toMatchObject({
      before: { removed: [{ connectionId: 'kept', toolName: 'create_entities' }] },
      after: { added: [{ connectionId: 'kept', toolName: 'delete_entities' }] },
    });
  });

  it('is left by an operator who tries what its key does not allow, once in a while', async () => {
    const { key, id } = await warren.api.expect(201, 'POST', '/api/keys', { name: 'reads', scopes: ['read'] });
    const reader = warren.api.as(key);
    for (let time = 0; time < 3; time += 1) await reader.expect(403, 'DELETE', '/api/connections/kept?a=b');
    await reader.expect(403, 'GET', '/api/keys');
    const { body } = await warren.api.get(`/api/audit?actorId=${id}`);
    expect(body.items).toMatchObject([
      { action: 'access.refuse', target: { kind: 'route', id: 'DELETE /api/connections/kept' }, outcome: 'refused' },
    ]);
  });
});

describe('the list', () => {
  it('comes in pages, newest first, without a gap', async () => {
    const sequences: number[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`;
      const { body } = await warren.api.get(`/api/audit?limit=7${query}`);
      sequences.push(...body.items.map(({ sequence }: { sequence: number }) => sequence));
      cursor = body.nextCursor;
    } while (cursor !== null);
    expect(sequences).toEqual(Array.from({ length: sequences.length }, (_, index) => sequences.length - index));
    expect(sequences.length).toBeGreaterThan(14);
  });

  it.each(['action=unheard.of', 'from=yesterday', 'cursor=xyz', 'limit=0'])('refuses ?%s', async (query) => {
    expect((await warren.api.get(`/api/audit?${query}`)).status).toBe(400);
  });
});

describe('the chain', () => {
  const command = (...args: string[]): WarrenCommand =>
    new WarrenCommand(['audit', ...args], {
      environment: {
        DATABASE_URL: warren.database.connectionString,
        WARREN_SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
      },
    });

  it('holds when many change things at once', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `many-${index}`);
    await Promise.all(names.map((id) => warren.api.expect(201, 'POST', '/api/agents', { id, name: id })));
    await Promise.all(names.map((id) => warren.api.expect(204, 'DELETE', `/api/agents/${id}`)));
    const verification = command('verify');
    expect(await verification.ended).toMatchObject({ code: 0 });
    expect(verification.output).toContain(`is intact: ${await lastSequence()} entries`);
  });

  it('cannot be edited by a slip', async () => {
    for (const statement of ['update audit_log set at = now()', 'delete from audit_log', 'truncate audit_log']) {
      await expect(pool.query(statement)).rejects.toThrow('only ever added to');
    }
  });

  it('shows an edit, a deletion and, against a noted head, that its end was cut off', async () => {
    const head = command('head');
    expect(await head.ended).toMatchObject({ code: 0 });
    const noted = head.output.trim();
    expect(noted).toMatch(/^\d+:[0-9a-f]{64}$/);

    const last = await lastSequence();
    await pool.query('alter table audit_log disable trigger audit_log_append_only');
    await pool.query(`update audit_log set actor = '{"id": "someone"}' where sequence = 2`);
    await pool.query('delete from audit_log where sequence = 4');
    const edited = command('verify');
    expect(await edited.ended).toMatchObject({ code: 1 });
    expect(edited.errors).toContain('row 2 was edited');
    expect(edited.errors).toContain('row 4 is missing');
    expect(edited.errors).toContain('not intact: 2 problems');

    await pool.query('delete from audit_log where sequence = $1', [last]);
    const cut = command('verify', '--head', noted);
    expect(await cut.ended).toMatchObject({ code: 1 });
    expect(cut.errors).toContain(`row ${last} is missing: the log was cut off`);

    const wrong = command('verify', '--head', 'yesterday');
    expect(await wrong.ended).toMatchObject({ code: 1 });
    expect(wrong.errors).toContain('--head takes');
    await pool.query('alter table audit_log enable trigger audit_log_append_only');
  });
});
