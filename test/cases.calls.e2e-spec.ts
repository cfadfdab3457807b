import { describe, expect, it } from '@jest/globals';
import path from 'node:path';
import { callsOf, countsOf } from './cases.log.js';
import { runCases, type PlannedCase } from './cases.run.js';
import { createAgent } from './support/real-providers.js';

/** Time for a call that is known to hang, milliseconds. */
const SHORT_CALL = { callTimeoutMs: 3_000 };

const planned: PlannedCase[] = [
  {
    number: '11',
    bounds: SHORT_CALL,
    claims: ({ calls, log }) => {
      const hangs = callsOf(log, 'hang');
      const cancellations = log.filter(({ event }) => event === 'cancelled');
      expect(hangs).toHaveLength(1);
      expect(cancellations).toMatchObject([{ requestId: hangs[0]?.id }]);
      expect(calls[0]?.error).toMatchObject({ code: 'mcp_call_timeout', sent: 'maybe', retryable: false });
      // a late answer is no wrong one
      expect(calls[0]?.text).not.toMatch(/id belongs/);
      expect(countsOf(log).get('start')).toBe(1);
    },
  },
  { number: '12' },
  { number: '23' },
  {
    number: '24',
    claims: ({ calls }) => {
      const [mixed, empty, missing, , badItems] = calls;
      expect(mixed?.text).toContain('r.md');
      for (const call of [empty, missing])
        expect(call).toMatchObject({ outcome: 'ok', text: expect.stringMatching(/without any content/) });
      // of the seven that are no blocks the model is told, beside the one that is: three without a type have one mark
      const lines = badItems?.text.split('\n') ?? [];
      expect(lines).toHaveLength(6);
      expect(lines).toContain('[3 content blocks without a type were left out]');
    },
  },
  { number: '25' },
  {
    number: '26',
    claims: ({ calls }) => expect(calls[0]).toMatchObject({ outcome: 'ok', text: 'as string' }),
  },
  { number: '31' },
  { number: '32' },
  {
    number: '38',
    claims: async ({ connectionId, agentId, calls, discoveries }, { api, warren }) => {
      const pages = ['', '/tools', '/events'].map((part) => `/api/connections/${connectionId}${part}`);
      const menu = `/api/agents/${agentId}/menu/mcp_capabilities`;
      const told = await Promise.all([
        ...[...pages, `/api/calls?connectionId=${connectionId}`].map((page) => api.expect(200, 'GET', page)),
        api.expect(200, 'POST', menu, { provider: connectionId }),
      ]);
      const everything = [JSON.stringify([told, calls, discoveries]), warren.log()].join('\n');
      const secret = 'tok-4711/SECRET+zz==';
      const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')];
      for (const form of [...forms, '4711/SECRET']) expect(everything).not.toContain(form);
      expect(calls.map(({ text }) => text.includes('cabin crew'))).toEqual([true, true, false]);
    },
  },
];

describe('fake providers that answer calls in odd ways', () => {
  const bench = runCases(planned);

  it('26: gives an answer with a wrong id to nobody, and tells who waited that one was seen', async () => {
    const { api } = bench();
    await api.expect(201, 'POST', '/api/connections?discover=true', {
      id: 'astray',
      name: 'astray',
      transport: 'stdio',
      lifecycle: 'keep_alive',
      callTimeoutMs: 1_500,
      command: process.execPath,
      args: [path.resolve('test/providers/wrong-id-provider.mjs')],
    });
    const agent = await createAgent(api, 'astray', { astray: ['astray', 'constant', 'unformed', 'silent'] });
    const call = (tool: string) =>
      agent.expect(200, 'POST', '/api/agents/astray/menu/mcp_call', { provider: 'astray', tool, arguments: {} });
    const seen = 'Meanwhile it sent an answer whose id belongs to no open request.';
    for (const tool of ['astray', 'constant']) {
      const { error, content } = await call(tool);
      expect({ tool, code: error?.code, content }).toEqual({ tool, code: 'mcp_call_timeout', content: [] });
      expect(error.message).toMatch(new RegExp(`did not answer within 1500 ms\\. ${seen}$`));
    }
    const unheard = await call('silent');
    expect(unheard.error.message).toMatch(/did not answer within 1500 ms\.$/);
    const unformed = await call('unformed');
    expect(unformed.error).toMatchObject({ code: 'mcp_protocol_error', sent: 'yes' });
    await api.expect(200, 'POST', '/api/connections/astray/stop');
  });
});
