import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { GrantsFixture, toolsOf } from './support/grants-fixture.js';
import { admin } from './support/author.js';

let fixture: GrantsFixture;
let agent: string;

beforeAll(async () => {
  fixture = await GrantsFixture.open();
  await fixture.connection('files', ['read', 'write', 'Read', 'a "quoted", {odd}\\ name', 'secret'], ['secret']);
  await fixture.connection('empty', []);
});

afterAll(() => fixture.close());

beforeEach(async () => {
  agent = (await fixture.agents.create(admin, { name: 'Demo' })).id;
});

describe('replacing the set of grants', () => {
  it('grants exactly what is named, with the hash of now', async () => {
    const set = await fixture.grants.replace(admin, agent, { tools: toolsOf('files', 'write', 'Read', 'write') });
    expect(set.revision).toBe(1);
    expect(set.tools.toSorted((a, b) => (a.toolName < b.toolName ? -1 : 1))).toEqual([
      expect.objectContaining({ connectionId: 'files', toolName: 'Read', present: true, definitionHash: 'Read-1' }),
      expect.objectContaining({ toolName: 'write', currentDefinitionHash: 'write-1', definitionChanged: false }),
    ]);
    expect(await fixture.grants.read(agent)).toEqual(set);
    expect(await fixture.grants.isGranted(agent, 'files', 'Read')).toBe(true);
    expect(await fixture.grants.isGranted(agent, 'files', 'read')).toBe(false);
  });

  it('takes names of any characters as they are', async () => {
    const odd = 'a "quoted", {odd}\\ name';
    await fixture.grants.replace(admin, agent, { tools: toolsOf('files', odd) });
    expect(await fixture.held(agent)).toEqual([`files/${odd}`]);
    await fixture.grants.patch(admin, agent, { remove: toolsOf('files', odd) });
    expect(await fixture.held(agent)).toEqual([]);
  });

  it('keeps the hash and the time of what was held, and tells when the definition changed', async () => {
    await fixture.connection(`${agent}-tools`, ['keep', 'add']);
    const before = await fixture.grants.replace(admin, agent, { tools: toolsOf(`${agent}-tools`, 'keep') });
    await fixture.changeTool(`${agent}-tools`, 'keep', 'keep-2');
    const after = await fixture.grants.replace(admin, agent, { tools: toolsOf(`${agent}-tools`, 'add', 'keep') });
    expect(after.tools.map((tool) => tool.toolName)).toEqual(['add', 'keep']);
    expect(after.tools[1]).toEqual(
      Object.assign({}, before.tools[0], { currentDefinitionHash: 'keep-2', definitionChanged: true }),
    );
  });

  it('lets a grant stay whose tool has left the catalog, but does not make it anew', async () => {
    const connection = `${agent}-leaving`;
    await fixture.connection(connection, ['gone', 'stays']);
    await fixture.grants.replace(admin, agent, { tools: toolsOf(connection, 'gone') });
    await fixture.dropTool(connection, 'gone');
    const set = await fixture.grants.replace(admin, agent, { tools: toolsOf(connection, 'gone', 'stays') });
    expect(set.tools[0]).toMatchObject({
      toolName: 'gone',
      present: false,
      definitionHash: 'gone-1',
      currentDefinitionHash: null,
      definitionChanged: false,
    });
    expect(await fixture.grants.countsByProvider(agent)).toEqual(new Map([[connection, { held: 2, present: 1 }]]));
    await fixture.grants.patch(admin, agent, { remove: toolsOf(connection, 'gone') });
    await expect(fixture.grants.patch(admin, agent, { add: toolsOf(connection, 'gone') })).rejects.toMatchObject({
      code: 'grant_unknown_tool',
    });
  });

  it('changes nothing when anything in it is unknown, and names every offender', async () => {
    await fixture.grants.replace(admin, agent, { tools: toolsOf('files', 'read') });
    const tools = [...toolsOf('files', 'write', 'absent'), ...toolsOf('nowhere', 'x'), ...toolsOf('files', 'WRITE')];
    await expect(fixture.grants.replace(admin, agent, { tools })).rejects.toMatchObject({
      code: 'grant_unknown_connection',
      errors: [{ path: 'tools[1].toolName' }, { path: 'tools[2].connectionId' }, { path: 'tools[3].toolName' }],
    });
    await expect(fixture.grants.replace(admin, agent, { tools: toolsOf('empty', 'x') })).rejects.toMatchObject({
      code: 'grant_unknown_tool',
    });
    expect(await fixture.grants.read(agent)).toMatchObject({ revision: 1, tools: [{ toolName: 'read' }] });
  });

  it('treats a tool that the connection hides as not in the catalog', async () => {
    await expect(fixture.grants.replace(admin, agent, { tools: toolsOf('files', 'secret') })).rejects.toMatchObject({
      code: 'grant_unknown_tool',
    });
    const connection = `${agent}-hiding`;
    await fixture.connection(connection, ['shown', 'other']);
    await fixture.grants.replace(admin, agent, { tools: toolsOf(connection, 'shown') });
    await fixture.database.pool.query('update connections set allow_tools = $2 where id = $1', [connection, ['other']]);
    expect((await fixture.grants.read(agent)).tools).toMatchObject([{ present: false, currentDefinitionHash: null }]);
    expect(await fixture.grants.grantedTools(agent)).toEqual([
      { providerId: connection, toolName: 'shown', definitionHash: 'shown-1', present: false },
    ]);
    expect(await fixture.grants.holdsGrantOn(agent, connection)).toBe(true);
    expect(await fixture.grants.holdsGrantOn(agent, 'files')).toBe(false);
  });

  it('holds 5,000 tools', async () => {
    const names = Array.from({ length: 5_000 }, (_, index) => `tool-${index}`);
    await fixture.connection(`${agent}-many`, [...names, 'one-more']);
    const tools = toolsOf(`${agent}-many`, ...names);
    expect((await fixture.grants.replace(admin, agent, { tools })).tools).toHaveLength(5_000);
    expect((await fixture.grants.replace(admin, agent, { tools })).revision).toBe(1);
    await expect(
      fixture.grants.patch(admin, agent, { add: toolsOf(`${agent}-many`, 'one-more') }),
    ).rejects.toMatchObject({
      code: 'limit_reached',
    });
    expect(await fixture.grants.read(agent)).toMatchObject({ revision: 1, tools: { length: 5_000 } });
    const swap = { add: toolsOf(`${agent}-many`, 'one-more'), remove: toolsOf(`${agent}-many`, 'tool-7') };
    expect((await fixture.grants.patch(admin, agent, swap)).tools).toHaveLength(5_000);
  });
});

describe('the revision of a set', () => {
  it('counts real changes only', async () => {
    const revisions: number[] = [];
    const step = async (work: Promise<{ revision: number }>): Promise<void> =>
      void revisions.push((await work).revision);
    await step(fixture.grants.patch(admin, agent, {}));
    await step(fixture.grants.patch(admin, agent, { add: toolsOf('files', 'read') }));
    await step(
      fixture.grants.patch(admin, agent, { add: toolsOf('files', 'read'), remove: toolsOf('files', 'write') }),
    );
    await step(fixture.grants.replace(admin, agent, { tools: toolsOf('files', 'read') }));
    await step(fixture.grants.patch(admin, agent, { remove: toolsOf('nowhere', 'x') }));
    await step(fixture.grants.replace(admin, agent, { tools: toolsOf('files', 'write') }));
    await step(fixture.grants.replace(admin, agent, { tools: [] }));
    expect(revisions).toEqual([0, 1, 1, 1, 1, 2, 3]);
    expect((await fixture.agents.require(agent)).grant_revision).toBe(3);
  });

  it('guards a change made for an older set', async () => {
    await fixture.grants.replace(admin, agent, { tools: toolsOf('files', 'read') }, '"0"');
    await expect(fixture.grants.replace(admin, agent, { tools: [] }, '"0"')).rejects.toMatchObject({
      code: 'stale_revision',
    });
    await expect(fixture.grants.patch(admin, agent, { remove: toolsOf('files', 'read') }, '"0"')).rejects.toMatchObject(
      {
        status: 412,
      },
    );
    expect(await fixture.held(agent)).toEqual(['files/read']);
    expect((await fixture.grants.patch(admin, agent, { remove: toolsOf('files', 'read') }, '"1"')).revision).toBe(2);
  });
});

describe('changing single grants', () => {
  it('leaves the rest alone and announces the change', async () => {
    await fixture.grants.replace(admin, agent, { tools: toolsOf('files', 'read', 'write') });
    const before = fixture.announced;
    await fixture.grants.patch(admin, agent, { add: toolsOf('files', 'Read'), remove: toolsOf('files', 'write') });
    expect(fixture.announced).toBe(before + 1);
    expect((await fixture.held(agent)).toSorted()).toEqual(['files/Read', 'files/read']);
  });

  it('refuses a tool in both lists', async () => {
    const both = { add: toolsOf('files', 'read'), remove: toolsOf('files', 'read') };
    await expect(fixture.grants.patch(admin, agent, both)).rejects.toMatchObject({ code: 'validation_failed' });
  });

  it.each(['nobody', 'mod.x', 'a\0b', ''])('knows no agent %j', async (id) => {
    const unknown = { code: 'agent_not_found' };
    await expect(fixture.grants.read(id)).rejects.toMatchObject(unknown);
    await expect(fixture.grants.replace(admin, id, { tools: [] })).rejects.toMatchObject(unknown);
    await expect(fixture.grants.patch(admin, id, {})).rejects.toMatchObject(unknown);
  });
});

describe('a change for several agents', () => {
  it('is made for all, and tells what became of each', async () => {
    const second = (await fixture.agents.create(admin, { name: 'Second' })).id;
    await fixture.grants.replace(admin, second, { tools: toolsOf('files', 'read', 'write') });
    const body = {
      agentIds: [second, agent, second],
      add: toolsOf('files', 'read'),
      remove: toolsOf('files', 'write'),
    };
    expect(await fixture.grants.apply(admin, body)).toEqual({
      items: [
        { agentId: second, revision: 2, added: 0, removed: 1 },
        { agentId: agent, revision: 1, added: 1, removed: 0 },
      ],
    });
    expect((await fixture.grants.apply(admin, body)).items.map((item) => item.revision)).toEqual([2, 1]);
  });

  it('is made for none when one agent or tool is unknown', async () => {
    const add = toolsOf('files', 'read');
    await expect(fixture.grants.apply(admin, { agentIds: [agent, 'nobody', 'mod.x'], add })).rejects.toMatchObject({
      code: 'grant_unknown_agent',
      errors: [{ path: 'agentIds[1]' }, { path: 'agentIds[2]' }],
    });
    await expect(
      fixture.grants.apply(admin, { agentIds: [agent], add: [...add, ...toolsOf('files', 'absent')] }),
    ).rejects.toMatchObject({ code: 'grant_unknown_tool', errors: [{ path: 'add[1].toolName' }] });
    expect(await fixture.grants.read(agent)).toEqual({ revision: 0, tools: [] });
  });

  it('lets a gone tool stay only where every agent holds it', async () => {
    const second = (await fixture.agents.create(admin, { name: 'Second' })).id;
    const connection = `${agent}-apply`;
    await fixture.connection(connection, ['gone']);
    await fixture.grants.replace(admin, agent, { tools: toolsOf(connection, 'gone') });
    await fixture.dropTool(connection, 'gone');
    const add = toolsOf(connection, 'gone');
    expect((await fixture.grants.apply(admin, { agentIds: [agent], add })).items).toMatchObject([
      { added: 0, revision: 1 },
    ]);
    await expect(fixture.grants.apply(admin, { agentIds: [agent, second], add })).rejects.toMatchObject({
      code: 'grant_unknown_tool',
    });
  });
});

describe('the list of grants', () => {
  it('filters, and pages without loss or repetition', async () => {
    await fixture.grants.replace(admin, agent, { tools: toolsOf('files', 'read', 'write', 'Read') });
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await fixture.grants.list({ agentId: agent, limit: 2, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.items.map((item) => item.toolName));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen.toSorted()).toEqual(['Read', 'read', 'write']);
    const page = await fixture.grants.list({ connectionId: 'files', toolName: 'write', agentId: agent });
    expect(page.items).toMatchObject([{ agentId: agent, connectionId: 'files', toolName: 'write', present: true }]);
  });

  it('refuses a cursor of another list', async () => {
    await expect(fixture.grants.list({ cursor: 'e30' })).rejects.toMatchObject({ code: 'cursor_invalid' });
  });
});
