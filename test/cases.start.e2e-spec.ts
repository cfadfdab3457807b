import { describe, expect, it } from '@jest/globals';
import { readCase } from './cases.file.js';
import { countsOf } from './cases.log.js';
import { runCases, type PlannedCase } from './cases.run.js';
import { eventually } from './support/eventually.js';

/** Time for a start that is known to fail, milliseconds. */
const SHORT_START = { connectTimeoutMs: 1_500 };

const planned: PlannedCase[] = [
  {
    number: '01',
    claims: ({ log }, _bench, lifecycle) => {
      expect(countsOf(log).get('start')).toBe(lifecycle === 'keep_alive' ? 1 : 2);
    },
  },
  { number: '02' },
  {
    number: '03',
    bounds: SHORT_START,
    claims: ({ discoveries }) => expect(discoveries[0]?.detail).toMatch(/did not answer the handshake/),
  },
  {
    number: '04',
    claims: ({ calls }) => {
      expect(calls[0]?.text).toMatch(/^HEADa+\n\[… \d+ of 6291464 characters left out.*…\]\na+TAIL$/);
    },
  },
  {
    number: '05',
    claims: async ({ connectionId, calls }, { api }) => {
      const tools = await api.expect(200, 'GET', `/api/connections/${connectionId}/tools`);
      expect(tools.items[0].description).toBe(calls[0]?.text);
    },
  },
  {
    number: '06',
    claims: ({ discoveries, log }, { warren }) => {
      expect(discoveries[0]?.detail).toMatch(/exit code 3/);
      expect(discoveries[0]?.detail).toMatch(/Error: credential .* was rejected\n +at boot/);
      expect(warren.log()).not.toContain('tok-4711-SECRET-zz');
      // the second start was to find out whether it speaks another era
      expect(countsOf(log).get('start')).toBe(2);
    },
  },
  { number: '07' },
  { number: '08' },
  {
    number: '09',
    bounds: SHORT_START,
    claims: ({ log }) => expect(countsOf(log).get('sigterm')).toBeGreaterThan(0),
  },
  { number: '27' },
  {
    number: '28',
    claims: ({ log }) => {
      const answers = log.filter(({ recv }) => recv === 'response');
      expect(answers).toHaveLength(4);
      for (const { error } of answers) expect(error).toMatchObject({ code: expect.any(Number) });
      // the server asked under an id that the call itself was using
      const call = log.find(({ recv }) => recv === 'tools/call');
      expect(answers.map(({ id }) => id)).toEqual([call?.id, 's1', 0, 'u1']);
    },
  },
  {
    number: '33',
    claims: async ({ connectionId }, { api }) => {
      const { catalog } = await api.expect(200, 'GET', `/api/connections/${connectionId}`);
      expect(catalog.protocolVersion).toBe('2024-11-05');
    },
  },
  {
    number: '34',
    claims: async ({ connectionId, calls, log }, { api, warren }, lifecycle) => {
      expect(calls).toMatchObject([{ outcome: 'ok', text: 'modern ok' }]);
      const { catalog } = await api.expect(200, 'GET', `/api/connections/${connectionId}`);
      expect(catalog.protocolVersion).toBe('2026-07-28');
      // the old handshake was tried once; what was learned is remembered with its date
      expect(countsOf(log).get('initialize')).toBe(1);
      expect(countsOf(log).get('start')).toBe(lifecycle === 'keep_alive' ? 2 : 3);
      const { rows } = await warren.database
        .pool()
        .query('select protocol_era from connections where id = $1', [connectionId]);
      expect(rows[0]?.['protocol_era']).toMatchObject({
        era: 'modern',
        learnedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      });
    },
  },
  {
    number: '40',
    claims: ({ calls }) => {
      const lines = calls[0]?.text.split('\n');
      expect(lines).toContain('NAMES=DOLLAR,FAKE_LOG,PATH,PLACE,PLAIN,WARREN_CHILD');
      // masked, because the child saw exactly what was saved; anything expanded would be shown
      expect(lines).toContain('PLACE=[redacted]');
      expect(lines).toContain('DOLLAR=[redacted]');
      expect(lines).toContain('ARGV=["--token","[redacted]"]');
    },
  },
];

describe('fake providers that start, speak or end in odd ways', () => {
  const bench = runCases(planned);

  it('serves others while a provider is silent', async () => {
    const silent = readCase('09');
    const { connectionId, directory, logFile } = bench().place(silent);
    const settings = bench().stdioSettings(silent, directory, logFile);
    const connection = { id: connectionId, name: connectionId, ...settings, connectTimeoutMs: 30_000 };
    await bench().api.expect(201, 'POST', '/api/connections', connection);
    let ended = false;
    // deleted below, it may answer so before that is waited for
    const waiting = bench()
      .discover(connectionId)
      .catch(() => ({ ok: false }))
      .finally(() => {
        ended = true;
      });
    const { live } = await eventually(async () => {
      const seen = await bench().api.expect(200, 'GET', `/api/connections/${connectionId}`);
      expect(seen.live.processes).toHaveLength(1);
      return seen;
    });
    expect(live.processes[0].pid).toBeGreaterThan(0);
    const run = await bench().run(readCase('02'), { lifecycle: 'ephemeral' });
    expect(run.calls).toMatchObject([{ outcome: 'ok', text: 'fine' }]);
    expect(ended).toBe(false);
    await bench().api.expect(204, 'DELETE', `/api/connections/${connectionId}`);
    expect(await waiting).toMatchObject({ ok: false });
  });
});
