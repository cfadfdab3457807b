import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GrantsFixture, toolsOf } from './support/grants-fixture.js';
import { admin } from './support/author.js';

let fixture: GrantsFixture;

beforeAll(async () => {
  fixture = await GrantsFixture.open();
  await fixture.connection('files', ['read']);
});

afterAll(() => fixture.close());

describe('an agent', () => {
  it('is made with defaults and an id from its name', async () => {
    const row = await fixture.agents.create(admin, { name: 'Night Watch' });
    expect(row).toMatchObject({ id: 'night-watch', enabled: true, visibility: 'all', grant_revision: 0 });
    expect(
      await fixture.agents.create(admin, { name: 'Night Watch', id: null, enabled: null, visibility: null }),
    ).toMatchObject({
      id: 'night-watch-2',
      enabled: true,
    });
  });

  it('keeps the id asked for, and an id is given once', async () => {
    expect(await fixture.agents.create(admin, { id: 'Agent.7', name: 'Seven', visibility: 'granted' })).toMatchObject({
      id: 'Agent.7',
      visibility: 'granted',
    });
    await expect(fixture.agents.create(admin, { id: 'Agent.7', name: 'Other' })).rejects.toMatchObject({
      code: 'agent_conflict',
      status: 409,
    });
    expect(await fixture.agents.create(admin, { id: 'agent.7', name: 'Seven' })).toMatchObject({ id: 'agent.7' });
  });

  it('gets an id of its own among 15 namesakes made at once', async () => {
    const rows = await Promise.all(Array.from({ length: 15 }, () => fixture.agents.create(admin, { name: 'Twin' })));
    expect(new Set(rows.map((row) => row.id)).size).toBe(15);
  });

  it('changes field by field, and null resets to the default', async () => {
    const { id, created_at } = await fixture.agents.create(admin, {
      name: 'Changing',
      enabled: false,
      visibility: 'granted',
    });
    expect(await fixture.agents.update(admin, id, { name: 'Changed' })).toMatchObject({
      id,
      name: 'Changed',
      enabled: false,
      visibility: 'granted',
      created_at,
    });
    expect(await fixture.agents.update(admin, id, { enabled: null, visibility: null })).toMatchObject({
      enabled: true,
      visibility: 'all',
    });
    await expect(fixture.agents.update(admin, id, { name: null as unknown as string })).rejects.toMatchObject({
      code: 'validation_failed',
      errors: [{ path: 'name' }],
    });
    await expect(fixture.agents.update(admin, 'nobody', { name: 'x' })).rejects.toMatchObject({
      code: 'agent_not_found',
    });
  });

  it('loses the standing of its tokens when it is disabled, and gets it back', async () => {
    const { id } = await fixture.agents.create(admin, { name: 'Switch' });
    const { token } = await fixture.tokens.create(admin, id, {});
    expect(await fixture.credentials.authenticate(token)).toMatchObject({ kind: 'agent', agentId: id });
    const announced = fixture.announced;
    await fixture.agents.update(admin, id, { enabled: false });
    expect(fixture.announced).toBe(announced + 1);
    expect(await fixture.credentials.authenticate(token)).toBeUndefined();
    await fixture.agents.update(admin, id, { enabled: true });
    expect(await fixture.credentials.authenticate(token)).toBeDefined();
  });

  it('goes with its tokens and grants', async () => {
    const { id } = await fixture.agents.create(admin, { name: 'Leaving' });
    const { token } = await fixture.tokens.create(admin, id, { name: 'laptop' });
    await fixture.grants.replace(admin, id, { tools: toolsOf('files', 'read') });
    await fixture.agents.delete(admin, id);
    expect(await fixture.credentials.authenticate(token)).toBeUndefined();
    await expect(fixture.agents.require(id)).rejects.toMatchObject({ code: 'agent_not_found' });
    await expect(fixture.agents.delete(admin, id)).rejects.toMatchObject({ code: 'agent_not_found' });
    await fixture.agents.create(admin, { id, name: 'Leaving' });
    expect(await fixture.grants.read(id)).toEqual({ revision: 0, tools: [] });
    expect((await fixture.tokens.list(id, {})).items).toEqual([]);
  });
});

describe('the list of agents', () => {
  it('filters by text in id or name and by enabled, and pages through all', async () => {
    await fixture.agents.create(admin, { id: 'list-1', name: 'Alpha 100%' });
    await fixture.agents.create(admin, { id: 'list-2', name: 'beta', enabled: false });
    await fixture.agents.create(admin, { id: 'list-3', name: 'ALPHABET' });
    const ids = async (query: Parameters<typeof fixture.agents.list>[0]): Promise<string[]> =>
      (await fixture.agents.list(query)).items.map((agent) => agent.id);
    expect(await ids({ query: 'alpha' })).toEqual(['list-1', 'list-3']);
    expect(await ids({ query: 'LIST-' })).toEqual(['list-1', 'list-2', 'list-3']);
    expect(await ids({ query: '0%' })).toEqual(['list-1']);
    expect(await ids({ query: '_' })).toEqual([]);
    expect(await ids({ query: 'list-', enabled: 'false' })).toEqual(['list-2']);
    const first = await fixture.agents.list({ query: 'list-', limit: 2 });
    expect(first.items).toHaveLength(2);
    expect(await fixture.agents.list({ query: 'list-', limit: 2, cursor: first.nextCursor ?? '' })).toMatchObject({
      items: [{ id: 'list-3' }],
      nextCursor: null,
    });
    await expect(fixture.agents.list({ cursor: 'x' })).rejects.toMatchObject({ code: 'cursor_invalid' });
  });
});

describe('agent tokens', () => {
  it('are shown once, listed without the token, and revoked at once', async () => {
    const { id } = await fixture.agents.create(admin, { name: 'Tokens' });
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const created = await fixture.tokens.create(admin, id, { name: 'laptop', expiresAt });
    expect(created).toMatchObject({ name: 'laptop', expiresAt, token: expect.stringMatching(/^wag_/) });
    const { items } = await fixture.tokens.list(id, {});
    expect(items).toEqual([{ id: created.id, name: 'laptop', expiresAt, createdAt: created.createdAt }]);
    await fixture.tokens.revoke(admin, id, created.id);
    expect(await fixture.credentials.authenticate(created.token)).toBeUndefined();
    await expect(fixture.tokens.revoke(admin, id, created.id)).rejects.toMatchObject({ code: 'token_not_found' });
  });

  it('are reached through their own agent only', async () => {
    const { id } = await fixture.agents.create(admin, { name: 'Owner' });
    const other = await fixture.agents.create(admin, { name: 'Stranger' });
    const created = await fixture.tokens.create(admin, id, {});
    for (const tokenId of [created.id, 'a\0', 'nothing']) {
      await expect(fixture.tokens.revoke(admin, other.id, tokenId)).rejects.toMatchObject({ code: 'token_not_found' });
    }
    await expect(fixture.tokens.revoke(admin, 'nobody', created.id)).rejects.toMatchObject({ code: 'agent_not_found' });
    await expect(fixture.tokens.create(admin, 'nobody', {})).rejects.toMatchObject({ code: 'agent_not_found' });
    await expect(fixture.tokens.list('nobody', {})).rejects.toMatchObject({ code: 'agent_not_found' });
    expect(await fixture.credentials.authenticate(created.token)).toBeDefined();
  });

  it('must expire in the future', async () => {
    const { id } = await fixture.agents.create(admin, { name: 'Past' });
    await expect(fixture.tokens.create(admin, id, { expiresAt: '2001-01-01T00:00:00Z' })).rejects.toMatchObject({
      code: 'validation_failed',
      errors: [{ path: 'expiresAt' }],
    });
  });

  it('are at most 100, also when made at once', async () => {
    const { id } = await fixture.agents.create(admin, { name: 'Many' });
    for (let count = 0; count < 97; count += 1) await fixture.credentials.issueAgentToken(admin, id);
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => fixture.tokens.create(admin, id, {})));
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.length).toBeGreaterThanOrEqual(5);
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'limit_reached', status: 409 });
    const { items } = await fixture.tokens.list(id, { limit: 200 });
    expect(items.length).toBeLessThanOrEqual(100);
    expect(items.length).toBe(97 + outcomes.filter((outcome) => outcome.status === 'fulfilled').length);
  });
});
