import { describe, expect, it } from '@jest/globals';
import type { SeenCall } from './cases.answer.js';
import type { CaseBench } from './cases.bench.js';
import { readCase } from './cases.file.js';
import { expectCall } from './cases.expectations.js';
import { callsOf, countsOf, readCaseLog } from './cases.log.js';
import { startCaseProvider } from './cases.provider.js';
import { runCases, type PlannedCase } from './cases.run.js';

/** Time for a call that is known to hang, milliseconds. */
const SHORT_CALL = { callTimeoutMs: 3_000 };

const odd = readCase('64');

const planned: PlannedCase[] = [
  {
    number: '50',
    claims: ({ calls }) => expect(calls.map(({ text }) => text)).toEqual(['call 1', 'call 2', 'call 3']),
  },
  {
    number: '51',
    claims: ({ calls, log }) => {
      expect(calls[0]?.error?.message).toMatch(/no longer knows the session/);
      expect(countsOf(log).get('tools/call')).toBe(2);
    },
  },
  { number: '54' },
  {
    number: '56',
    claims: ({ calls }, { warren }) => {
      expect(calls[1]?.error).toMatchObject({ code: 'mcp_auth_required', reason: 'auth_forbidden' });
      expect(calls[1]?.error?.message).toContain('events:write');
      expect(calls[3]?.error).toMatchObject({ code: 'mcp_auth_required', reason: 'auth_required' });
      expect(warren.log()).not.toContain('key-5150-SECRET');
    },
  },
  {
    number: '57',
    claims: ({ calls, log }) => {
      expect(calls).toMatchObject([{ outcome: 'ok', text: 'ok' }]);
      const posts = log.filter(({ http }) => http === 'POST');
      for (const { recv, headers } of posts) {
        expect({ recv, authorization: headers?.['authorization'] }).toEqual({
          recv: expect.any(String),
          authorization: 'Bearer key-5150-SECRET',
        });
      }
    },
  },
  { number: '59' },
  { number: '60' },
  {
    number: '61',
    claims: ({ discoveries }) => {
      expect(discoveries[0]?.detail).toMatch(/text\/html/);
      expect(discoveries[0]?.detail).not.toContain('<');
      expect(discoveries[0]?.detail.length).toBeLessThan(500);
    },
  },
  {
    number: '63',
    bounds: SHORT_CALL,
    claims: ({ calls, log }) => {
      // at once, not by the deadline
      expect(calls[1]).toMatchObject({
        outcome: 'provider_error',
        error: { code: 'mcp_call_interrupted', sent: 'maybe' },
      });
      expect(countsOf(log).get('client-closed')).toBe(1);
    },
  },
  {
    number: '65',
    claims: ({ calls, discoveries, log }) => {
      expect(calls).toMatchObject([{ outcome: 'ok', text: 'ran in Zürich' }]);
      expect(discoveries[0]?.tools).toEqual(['sql']);
      expect(discoveries[0]?.warnings).toMatchObject([{ tool: 'illegal', code: 'parameter_header_invalid' }]);
      expect(callsOf(log, 'sql').map(({ headers }) => headers)).toMatchObject([
        {
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'sql',
          'mcp-param-region': '=?base64?WsO8cmljaA==?=',
        },
      ]);
      expect([...countsOf(log).keys()]).not.toContain('http:GET');
    },
  },
];

describe('fake providers over HTTP', () => {
  const bench = runCases(planned);

  it.each(odd.connections.map(({ want, ...settings }, at) => ({ at, want, settings })))(
    '64-header-values ($at: $want)',
    async ({ want, settings }) => {
      const { connectionId, logFile } = bench().place(odd);
      const provider = await startCaseProvider(odd.id, logFile);
      try {
        const { seen, refused } = await useHeader(bench(), connectionId, { baseUrl: provider.url, ...settings });
        for (const call of seen) expectCall(odd.expected.calls[0] ?? { outcome: [] }, call);
        const log = readCaseLog(logFile);
        for (const key of odd.expected.log?.neverEvents ?? []) expect([...countsOf(log).keys()]).not.toContain(key);
        const sent = new Set(
          log.filter(({ http }) => http === 'POST').map(({ headers }) => headers?.['authorization']),
        );
        expect({ want, ...outcomeOf(want, refused, sent) }).toEqual({ want, fits: true });
      } finally {
        await provider.stop();
      }
      expect(bench().warren.log()).not.toMatch(/(tok|clé)-77-SECRET/);
    },
  );
});

/** Saves the connection and makes the call of case 64; a connection refused in words that name the field is a refused call. */
async function useHeader(
  bench: CaseBench,
  connectionId: string,
  settings: Record<string, unknown>,
): Promise<{ seen: SeenCall[]; refused: boolean }> {
  const connection = { id: connectionId, name: connectionId, transport: 'http', ...settings };
  const { status, body } = await bench.api.post('/api/connections', connection);
  if (status === 400 && body.errors[0].path === 'apiKey') {
    return { seen: [{ outcome: 'refused', text: JSON.stringify(body), ms: 0 }], refused: true };
  }
  const { tools } = await bench.discover(connectionId);
  const agent = await bench.agent(`agent.${connectionId}`, connectionId, odd, tools);
  return { seen: await bench.callAs(agent, connectionId, odd), refused: false };
}

/** What the cases want of a value, in their words. */
function outcomeOf(want: string, refused: boolean, sent: Set<string | undefined>): { fits: boolean; sent?: unknown[] } {
  const [only] = sent;
  const once = sent.size === 1;
  const fits = ((): boolean => {
    switch (want) {
      case 'refuse':
        return refused;
      case 'trim or refuse':
        return refused || (once && only === 'Bearer tok-77-SECRET');
      case 'single Bearer or sent as given, stated':
        return once && only === 'Bearer tok-77-SECRET';
      default:
        throw new Error(`no test looks at what is wanted here: ${want}`);
    }
  })();
  return fits ? { fits } : { fits, sent: [...sent] };
}
