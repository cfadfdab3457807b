import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callCodes, type CallCode } from '../src/runtime/call-codes.js';
import type { CallReceipt } from '../src/runtime/menu.answers.js';
import { bad, failureRows, startFailures, type FailureFixture } from './menu-codes.table.js';
import { eventually, type MenuBench } from './support/menu-bench.js';

/** Codes of what is not built yet, or has tests of its own. */
const ELSEWHERE: CallCode[] = ['handle_invalid', 'mcp_response_withheld', 'rate_limited'];

let fixture: FailureFixture;
let bench: MenuBench;

beforeAll(async () => {
  fixture = await startFailures();
  ({ bench } = fixture);
});

afterAll(async () => {
  // a server closes only when its connections have: Warren's spare ones end with it
  await bench.stop();
  await fixture.remote.close();
});

describe('every way a call fails', () => {
  it.each(failureRows)('answers $what with $code', async ({ code, ask, expect: expected, before, after }) => {
    await before?.(fixture);
    const { provider, tool } = ask as { provider?: string; tool?: string };
    const arrived = (await bench.arrivals(String(provider), String(tool))).length;
    const receipt = await bench.call('demo', ask);
    await after?.(fixture);
    expect(receipt).toMatchObject({
      ok: false,
      callId: expect.stringMatching(/^call_/),
      tool: tool ?? '',
      error: { code, message: expect.stringMatching(/\S/), hint: expect.stringMatching(/^[A-Z].*\.$/), ...expected },
      protection: { status: 'clean', redacted: 0, sealed: 0, types: [] },
      durationMs: expect.any(Number),
    });
    await expectReceipt(receipt, code);
    const sent = receipt.error?.sent !== 'no' && provider !== 'remote';
    const arrivals = await bench.arrivals(String(provider), String(tool));
    // nothing is sent that was refused, and nothing twice
    expect(arrivals).toHaveLength(arrived + (sent ? 1 : 0));
  });

  it('answers a result that is no object with mcp_protocol_error, without waiting for the deadline', async () => {
    await bench.change('bad', { callTimeoutMs: 1_000 });
    const receipt = await bench.call('demo', bad('not-a-result'));
    await bench.change('bad', { callTimeoutMs: null });
    expect(receipt.error).toMatchObject({ code: 'mcp_protocol_error', sent: 'yes' });
  });

  it('leaves no code out', () => {
    const covered = new Set<string>([
      ...failureRows.map(({ code }) => code),
      'busy',
      'mcp_call_cancelled',
      ...ELSEWHERE,
    ]);
    expect(Object.keys(callCodes).filter((code) => !covered.has(code))).toEqual([]);
  });

  it('keeps the session of a provider that fails a call, and gets a new one for what broke it', async () => {
    await bench.call('demo', bad('is-error'));
    const [first] = (await bench.seen('bad')).filter(({ event }) => event === 'start').slice(-1);
    await bench.call('demo', bad('rpc-error'));
    expect(await bench.call('demo', bad('ok'))).toMatchObject({ ok: true });
    expect((await bench.arrivals('bad', 'ok')).at(-1)?.pid).toBe(first?.pid);
    await bench.call('demo', bad('exit-now'));
    expect(await bench.call('demo', bad('ok'))).toMatchObject({ ok: true });
    expect((await bench.arrivals('bad', 'ok')).at(-1)?.pid).not.toBe(first?.pid);
  });

  it('answers the questions of a provider at once, with a refusal', async () => {
    const receipt = await bench.call('demo', bad('server-asks'));
    expect(receipt).toMatchObject({ ok: true, content: [{ text: expect.stringContaining('"error"') }] });
    expect(receipt.durationMs).toBeLessThan(5_000);
  });

  it('says busy while every session is in use', async () => {
    const running = bench.begin('demo', { provider: 'shared', tool: 'slow' });
    await eventually(async () => (await bench.arrivals('shared', 'slow'))[0]);
    const receipt = await bench.call('second', { provider: 'shared', tool: 'ok' });
    running.leave();
    await running.left;
    expect(receipt.error).toMatchObject({ code: 'busy', sent: 'no', retryable: true, hint: expect.any(String) });
    expect(receipt.error?.retryAfterMs).toBeGreaterThan(0);
    await expectReceipt(receipt, 'busy');
    expect(await bench.arrivals('shared', 'ok')).toEqual([]);
  });

  it('says that a call which only waited in line was never sent', async () => {
    await bench.change('bad', { maxConcurrentCalls: 1 });
    const before = await bench.arrivals('bad', 'slow');
    const running = bench.begin('demo', bad('slow'));
    await eventually(async () => (await bench.arrivals('bad', 'slow'))[before.length]);
    await bench.change('bad', { callTimeoutMs: 200 });
    const receipt = await bench.call('demo', bad('ok'));
    await bench.change('bad', { callTimeoutMs: null, maxConcurrentCalls: null });
    running.leave();
    await running.left;
    expect(receipt.error).toMatchObject({ code: 'mcp_call_timeout', sent: 'no', retryable: true });
  });
});

async function expectReceipt(receipt: CallReceipt, code: CallCode): Promise<void> {
  const { error, callId, tool } = receipt;
  expect(await bench.api.expect(200, 'GET', `/api/calls/${callId}`)).toMatchObject({
    callId,
    tool,
    state: 'finished',
    ok: false,
    code,
    sent: error?.sent,
    reason: error?.reason ?? null,
    actor: { kind: 'agent' },
  });
}
