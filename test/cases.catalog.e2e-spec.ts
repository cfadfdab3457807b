import { describe, expect, it } from '@jest/globals';
import { readCase } from './cases.file.js';
import { runCases, type PlannedCase } from './cases.run.js';

const planned: PlannedCase[] = [
  {
    number: '13',
    claims: ({ discoveries }) => expect(codesOf(discoveries[0]?.warnings)).toContain('cursor_repeated'),
  },
  {
    number: '14',
    claims: ({ log }) => {
      const cursors = log.filter(({ recv }) => recv === 'tools/list').map(({ params }) => params?.['cursor']);
      expect(cursors).toEqual([undefined, 'next page/1?=&é', '{"o":2}']);
    },
  },
  { number: '15' },
  {
    number: '16',
    claims: ({ discoveries }) => {
      expect(discoveries[0]).toMatchObject({ ok: false, tools: [] });
      expect(discoveries[0]?.detail).toMatch(/more than \d+ (pages|tools|bytes)/);
    },
  },
  {
    number: '17',
    claims: async ({ connectionId, discoveries }, { api }) => {
      expect(discoveries[0]?.warnings).toContainEqual(
        expect.objectContaining({ code: 'duplicate_name', tool: 'search' }),
      );
      const { items } = await api.expect(200, 'GET', `/api/connections/${connectionId}/tools?query=search`);
      expect(items.find(({ name }: { name: string }) => name === 'search').description).toBe('first');
    },
  },
  {
    number: '18',
    claims: ({ discoveries }) => {
      // '', 'bad\nname', 7, null, 'str' and the nameless one; the rest is in the catalog
      const leftOut = codesOf(discoveries[0]?.warnings).filter((code) => /^(name|tool)_invalid$/.test(code));
      expect(leftOut).toHaveLength(6);
      expect(discoveries[0]?.tools).toHaveLength(8);
    },
  },
  {
    number: '20',
    claims: async ({ connectionId, agentId, discoveries }, { api }) => {
      for (const tool of ['null_schema', 'string_schema', 'string_root', 'array_root', 'missing_schema']) {
        const found = discoveries[0]?.warnings.filter((warning) => warning.tool === tool);
        expect({ tool, messages: found?.map(({ message }) => message) }).toEqual({
          tool,
          messages: [expect.stringMatching(/inputSchema/)],
        });
      }
      const held = discoveries[0]?.tools.map((toolName) => ({ connectionId, toolName }));
      await api.expect(200, 'PUT', `/api/agents/${agentId}/mcp-tools`, { tools: held });
      const menu = `/api/agents/${agentId}/menu/mcp_capabilities`;
      const served = await api.expect(200, 'POST', menu, { provider: connectionId, limit: 20 });
      expect(served.tools).toHaveLength(20);
      for (const { name, inputSchema } of served.tools) {
        expect({ name, schema: inputSchema }).toEqual({
          name,
          schema: expect.not.arrayContaining([expect.anything()]),
        });
        expect(typeof inputSchema).toBe('object');
      }
    },
  },
  {
    number: '21',
    claims: ({ discoveries }) => expect(discoveries[0]?.tools).toEqual(expect.arrayContaining(['deep', 'fan'])),
  },
  {
    number: '37',
    claims: async ({ connectionId, calls }, { api }) => {
      const { items } = await api.expect(200, 'GET', `/api/connections/${connectionId}/tools`);
      expect(items[0].description).toMatch(/^before.mid.x\u2028after$/u);
      expect(calls[0]?.text).toMatch(/before.mid.x\u2028after/su);
      const receipts = await api.expect(200, 'GET', `/api/calls?connectionId=${connectionId}`);
      expect(receipts.items).toMatchObject([{ tool: 'bin', ok: true }]);
    },
  },
  {
    number: '41',
    onlyEphemeral: 'each process lists the same for as long as it lives, so a lasting one is never empty',
    claims: async ({ connectionId, discoveries }, { api }) => {
      expect(discoveries.map(({ tools }) => tools)).toEqual([['echo'], [], ['echo']]);
      expect(JSON.parse(discoveries[1]?.answer ?? '{}')).toMatchObject({ toolCount: 0, removed: 1 });
      const { catalog } = await api.expect(200, 'GET', `/api/connections/${connectionId}`);
      expect(catalog).toMatchObject({ revision: 3, toolCount: 1 });
    },
  },
];

describe('fake providers with odd catalogs', () => {
  const bench = runCases(planned);

  it('16: a half-read catalog takes no earlier catalog or grant away', async () => {
    const { api } = bench();
    const [finite, endless] = [readCase('14'), readCase('16')];
    const run = await bench().run(finite, { lifecycle: 'ephemeral' });
    const place = bench().place(endless);
    const { command, args } = bench().stdioSettings(endless, place.directory, place.logFile);
    await api.expect(200, 'PATCH', `/api/connections/${run.connectionId}`, { command, args });
    const discovery = await bench().discover(run.connectionId);
    expect(discovery).toMatchObject({ ok: false, tools: finite.expected.discover?.tools });
    const { tools } = await api.expect(200, 'GET', `/api/agents/${run.agentId}/mcp-tools`);
    expect(tools).toMatchObject([{ connectionId: run.connectionId, toolName: 'p2_a', present: true }]);
  });
});

function codesOf(warnings: { code: string }[] = []): string[] {
  return warnings.map(({ code }) => code);
}
