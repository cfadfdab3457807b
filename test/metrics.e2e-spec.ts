import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { migrations } from '../migrations/index.js';
import { AppModule } from '../src/app.module.js';
import { readConfig } from '../src/config.js';
import { Metrics } from '../src/metrics.js';
import { openPlatform } from '../src/platform.js';
import { callCodes } from '../src/runtime/call-codes.js';
import { CallMetrics } from '../src/runtime/call-metrics.js';
import { DocumentedAnswers } from './support/documented-answers.js';
import { eventually } from './support/eventually.js';
import { MenuBench } from './support/menu-bench.js';
import type { Part } from './support/openapi-document.js';
import { providersOf } from './support/processes.js';
import { Scrape } from './support/prometheus-text.js';
import { rawRequest, type RawAnswer } from './support/raw-request.js';
import { TEST_KEYRING } from './support/warren.js';

let bench: MenuBench;

beforeAll(async () => {
  bench = await MenuBench.start();
  await bench.connect('one');
  await bench.connect('two');
  await bench.agent('caller', ['one/ok', 'one/slow', 'one/is-error']);
  for (const id of ['one', 'two']) await bench.api.expect(200, 'POST', `/api/connections/${id}/stop`);
});

afterAll(() => bench.stop());

const ask = (token: string | undefined): Promise<RawAnswer> =>
  rawRequest(bench.warren.url, 'GET', '/metrics', token === undefined ? {} : { authorization: `Bearer ${token}` });

const scrape = async (): Promise<Scrape> => new Scrape((await ask(bench.warren.adminKey)).text);

const on = (id: string, action: 'start' | 'stop'): Promise<unknown> =>
  bench.api.expect(200, 'POST', `/api/connections/${id}/${action}`);

const sessions = (counts: Record<string, number>): Record<string, number> =>
  Object.fromEntries(
    ['idle', 'connecting', 'connected', 'error', 'closed'].map((state) => [
      `warren_provider_sessions{state="${state}"}`,
      counts[state] ?? 0,
    ]),
  );

describe('GET /metrics', () => {
  it('is for operators with read', async () => {
    const { key } = await bench.api.expect(201, 'POST', '/api/keys', { name: 'scraper', scopes: ['read'] });
    const { token } = await bench.api.expect(201, 'POST', '/api/agents/caller/tokens', {});
    expect((await ask(key)).status).toBe(200);
    expect((await ask(token)).status).toBe(403);
    expect((await ask(undefined)).status).toBe(401);
  });

  it('answers in the documented text format', async () => {
    const answer = await ask(bench.warren.adminKey);
    expect(answer.contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
    const { body: document } = await bench.api.get<Part>('/openapi.json');
    const received = { status: answer.status, headers: new Headers({ 'content-type': answer.contentType }) };
    const differences = new DocumentedAnswers(document).differences('GET', '/metrics', {
      ...received,
      body: answer.text,
    });
    expect(differences).toEqual([]);
  });

  it('tells of the process and its database connections', async () => {
    const scraped = await scrape();
    for (const name of ['process_resident_memory_bytes', 'nodejs_heap_size_used_bytes', 'process_open_fds']) {
      expect([name, scraped.value(name) > 0]).toEqual([name, true]);
    }
    expect(scraped.value('nodejs_eventloop_lag_seconds')).toBeGreaterThanOrEqual(0);
    const connections = Object.values(scraped.of('warren_database_connections'));
    expect(connections).toHaveLength(2);
    expect(connections.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
    expect(scraped.value('warren_database_waiting')).toBe(0);
  });

  it('follows provider processes and sessions from start to stop', async () => {
    expect((await scrape()).value('warren_provider_processes')).toBe(0);
    expect((await scrape()).of('warren_connection_processes')).toEqual({});

    await on('one', 'start');
    const first = await scrape();
    expect(first.value('warren_provider_processes')).toBe(1);
    expect(first.of('warren_provider_sessions')).toEqual(sessions({ connected: 1, closed: 1 }));

    await on('two', 'start');
    const second = await scrape();
    expect(second.value('warren_provider_processes')).toBe(providersOf(bench.warren.process.pid).length);
    expect(second.value('warren_provider_processes')).toBe(2);
    expect(second.of('warren_connection_processes')).toEqual({
      'warren_connection_processes{connection_id="one"}': 1,
      'warren_connection_processes{connection_id="two"}': 1,
    });
    expect(second.of('warren_provider_sessions')).toEqual(sessions({ connected: 2 }));

    await on('one', 'stop');
    await on('two', 'stop');
    const last = await scrape();
    expect(last.value('warren_provider_processes')).toBe(0);
    expect(last.of('warren_connection_processes')).toEqual({});
    expect(last.of('warren_provider_sessions')).toEqual(sessions({ closed: 2 }));
  });

  it('no longer counts a provider that was killed', async () => {
    await on('one', 'start');
    const { live } = await bench.api.expect(200, 'GET', '/api/connections/one');
    expect((await scrape()).value('warren_provider_processes')).toBe(1);
    process.kill(live.processes[0].pid, 'SIGKILL');
    await eventually(async () => {
      const scraped = await scrape();
      expect(scraped.value('warren_provider_processes')).toBe(0);
      expect(scraped.value('warren_provider_sessions{state="connected"}')).toBe(0);
    });
    await on('one', 'stop');
  });

  it('counts each call once, under its code, with its time', async () => {
    const before = await scrape();
    expect(Object.keys(before.of('warren_calls_total'))).toHaveLength(Object.keys(callCodes).length + 1);
    await bench.call('caller', { provider: 'one', tool: 'ok' });
    await bench.call('caller', { provider: 'one', tool: 'ok' });
    await bench.call('caller', { provider: 'one', tool: 'is-error' });
    await bench.call('caller', { provider: 'two', tool: 'ok' });
    await bench.call('caller', { nonsense: true });
    const after = await scrape();
    const rise = (series: string): number => after.value(series) - before.value(series);
    const risen = Object.keys(before.of('warren_calls_total')).map((series) => [series, rise(series)] as const);
    expect(Object.fromEntries(risen.filter(([, by]) => by !== 0))).toEqual({
      'warren_calls_total{code="ok"}': 2,
      'warren_calls_total{code="mcp_tool_failed"}': 1,
      'warren_calls_total{code="mcp_tool_not_granted"}': 1,
      'warren_calls_total{code="mcp_arguments_invalid"}': 1,
    });
    expect(rise('warren_call_duration_seconds_count')).toBe(5);
    expect(rise('warren_call_duration_seconds_bucket{le="+Inf"}')).toBe(5);
    expect(rise('warren_call_duration_seconds_sum')).toBeGreaterThan(0);
    expect(rise('warren_call_duration_seconds_sum')).toBeLessThan(60);
  });

  it('shows calls in flight until they have ended', async () => {
    const call = bench.begin('caller', { provider: 'one', tool: 'slow' });
    await eventually(async () => expect((await scrape()).value('warren_calls_in_flight')).toBe(1));
    call.leave();
    await call.left;
    await eventually(async () => {
      const scraped = await scrape();
      expect(scraped.value('warren_calls_in_flight')).toBe(0);
      expect(scraped.value('warren_calls_total{code="mcp_call_cancelled"}')).toBe(1);
    });
  });

  it('has no more series for more agents, tools and odd names, and none of their words', async () => {
    await on('one', 'start');
    await bench.call('caller', { provider: 'one', tool: 'ok' });
    // what the runtime itself holds at this moment (kinds of handles, kinds of collections) varies, within its own kinds
    const own = (scraped: Scrape): string[] =>
      [...scraped.series.keys()].filter((series) => series.startsWith('warren_')).toSorted();
    const before = own(await scrape());
    for (const id of ['agent-a', 'agent-b', 'agent-c']) {
      await bench.agent(id, ['one/ok']);
      for (const tool of ['ok', 'canary-tool', 'canary"}\n1']) await bench.call(id, { provider: 'one', tool });
      await bench.call(id, { provider: 'canary-provider', tool: 'ok' });
    }
    const scraped = await scrape();
    expect(own(scraped)).toEqual(before);
    expect(before.length).toBeLessThan(60);
    expect(scraped.series.size).toBeLessThan(200);
    for (const word of ['canary', 'agent-a', 'caller', bench.warren.adminKey, 'postgresql://', 'misbehaving']) {
      expect(scraped.text).not.toContain(word);
    }
    const names = new Set(scraped.labels().map((label) => label.split('=', 1)[0]));
    const known = [
      'bound',
      'code',
      'connection_id',
      'kind',
      'le',
      'major',
      'minor',
      'patch',
      'space',
      'state',
      'type',
      'use',
    ];
    expect([...names].filter((name) => ![...known, 'version'].includes(name ?? ''))).toEqual([]);
  });
});

describe('two applications in one process', () => {
  it('measure apart', async () => {
    const { settings } = readConfig({
      PORT: '0',
      LOG_LEVEL: 'silent',
      DATABASE_URL: bench.warren.database.connectionString,
      WARREN_SECRET_KEYS: TEST_KEYRING,
    });
    const platform = await openPlatform(settings, migrations);
    const create = (): Promise<NestFastifyApplication> =>
      NestFactory.create<NestFastifyApplication>(AppModule.on(platform), new FastifyAdapter(), { logger: false });
    const applications = [await create(), await create()] as const;
    try {
      applications[0].get(CallMetrics).record('busy', 20);
      const [one, other] = await Promise.all(
        applications.map(async (application) => new Scrape(await application.get(Metrics).text())),
      );
      expect(one?.value('warren_calls_total{code="busy"}')).toBe(1);
      expect(other?.value('warren_calls_total{code="busy"}')).toBe(0);
    } finally {
      for (const application of applications) await application.close();
      await platform.close();
    }
  });
});
