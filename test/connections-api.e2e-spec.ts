import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startRefusingProvider, type RefusingProvider } from './providers/refusing-provider.js';
import { ConnectionsApi } from './support/connections-api.js';

let connections: ConnectionsApi;
let provider: RefusingProvider;
let elsewhere: RefusingProvider;

beforeAll(async () => {
  connections = await ConnectionsApi.start();
  provider = await startRefusingProvider();
  elsewhere = await startRefusingProvider();
});

afterAll(async () => {
  await connections.stop();
  await Promise.all([provider.close(), elsewhere.close()]);
});

/** What the provider is sent of the secrets of a connection, once it is discovered. */
async function sentTo(server: RefusingProvider, id: string): Promise<Record<string, unknown>> {
  await connections.expect(200, 'POST', `/${id}/discover`);
  const { url, headers } = server.last();
  return { ...Object.fromEntries(url.searchParams), authorization: headers.authorization, x: headers['x-key'] };
}

const named = (...names: string[]): { name: string; configured: boolean }[] =>
  names.map((name) => ({ name, configured: true }));

describe('secrets of http connections', () => {
  it('are kept, replaced and cleared by the rules', async () => {
    const { secret } = connections;
    const [key, header, query] = [secret('key'), secret('header'), secret('query')];
    const created = await connections.expect(201, 'POST', '', {
      id: 'http',
      name: 'Http',
      transport: 'http',
      baseUrl: `${provider.url}?plain=1`,
      apiKey: key,
      headers: [{ name: 'X-Key', value: header }],
      queryParameters: [{ name: 'q', value: query }],
    });
    expect(created).toMatchObject({ apiKeyConfigured: true, headers: named('X-Key'), queryParameters: named('q') });
    const everything = { plain: '1', authorization: `Bearer ${key}`, x: header, q: query };
    expect(await sentTo(provider, 'http')).toEqual(everything);

    // what is left out or blank, and entries without a value, stay; answered lists can be sent back
    const { headers, queryParameters } = created;
    for (const body of [{ name: 'Renamed' }, { apiKey: '' }, { apiKey: '  ' }, { headers, queryParameters }]) {
      await connections.change('http', body);
    }
    await connections.change('http', { headers: [{ name: 'x-key' }], queryParameters: [{ name: 'q', value: null }] });
    expect(await sentTo(provider, 'http')).toEqual(everything);

    // what is supplied replaces the set
    const [nextKey, nextHeader, other] = [secret('next-key'), secret('next-header'), secret('other')];
    const changed = await connections.change('http', {
      apiKey: nextKey,
      headers: [{ name: 'X-Key', value: nextHeader }],
      queryParameters: [{ name: 'r', value: other }],
    });
    expect(changed).toMatchObject({ queryParameters: named('r') });
    expect(await sentTo(provider, 'http')).toEqual({
      plain: '1',
      authorization: `Bearer ${nextKey}`,
      x: nextHeader,
      r: other,
    });

    // null clears
    const cleared = await connections.change('http', { apiKey: null, headers: null, queryParameters: [] });
    expect(cleared).toMatchObject({ apiKeyConfigured: false, headers: [], queryParameters: [] });
    expect(await sentTo(provider, 'http')).toEqual({ plain: '1', authorization: undefined, x: undefined });
  });

  it('never follow a URL to another origin', async () => {
    const { secret } = connections;
    const [key, header] = [secret('key'), secret('header')];
    await connections.expect(201, 'POST', '', {
      id: 'moving',
      name: 'Moving',
      transport: 'http',
      baseUrl: provider.url,
      apiKey: key,
      headers: [{ name: 'X-Key', value: header }],
    });
    const moved = { baseUrl: elsewhere.url };
    const refused: [Record<string, unknown>, string[]][] = [
      [moved, ['apiKey', 'headers']],
      [{ ...moved, apiKey: secret('another') }, ['headers']],
      [{ ...moved, apiKey: null, headers: [{ name: 'X-Key' }] }, ['headers']],
      [{ ...moved, apiKey: '', headers: null }, ['apiKey']],
    ];
    for (const [body, paths] of refused) {
      const problem = await connections.refused(422, 'secrets_required_for_new_origin', 'moving', body);
      expect(problem.map(({ path }) => path)).toEqual(paths);
    }
    expect(await connections.read('moving')).toMatchObject({ baseUrl: provider.url, revision: 1 });
    expect(await sentTo(provider, 'moving')).toEqual({ authorization: `Bearer ${key}`, x: header });

    // another path of the same origin is no other place
    await connections.change('moving', { baseUrl: `${provider.url}/deeper` });
    expect(await sentTo(provider, 'moving')).toEqual({ authorization: `Bearer ${key}`, x: header });

    const next = secret('next');
    await connections.change('moving', { ...moved, apiKey: next, headers: [] });
    expect(await sentTo(elsewhere, 'moving')).toEqual({ authorization: `Bearer ${next}`, x: undefined });
  });
});

describe('secrets of stdio connections', () => {
  it('are kept, replaced and removed by the rules', async () => {
    const { secret } = connections;
    const [one, two, flag] = [
      secret('one'),
      `-----BEGIN KEY-----\n${secret('two')}\n-----END KEY-----`,
      secret('flag'),
    ];
    const created = await connections.createStdio('stdio', {
      environmentVariables: [
        { name: 'ONE', value: one },
        { name: 'TWO', value: two },
        { name: 'EMPTY', value: '' },
      ],
      args: ['--flag', { secret: 'flag', value: flag }],
    });
    expect(created).toMatchObject({
      environmentVariables: named('ONE', 'TWO', 'EMPTY', 'FAKE_LOG'),
      args: [expect.any(String), 'well', '--flag', { secret: 'flag', configured: true }],
    });
    let started = await connections.launched('stdio');
    expect(started.environment).toMatchObject({ ONE: one, TWO: two, EMPTY: '' });
    expect(started.arguments).toEqual(['well', '--flag', flag]);

    // left out: unchanged; answered lists can be sent back
    const { environmentVariables, args } = created;
    await connections.change('stdio', { callTimeoutMs: 9_000 });
    await connections.change('stdio', { environmentVariables, args });
    started = await connections.launched('stdio');
    expect([started.environment, started.arguments]).toEqual([
      expect.objectContaining({ ONE: one, TWO: two, EMPTY: '' }),
      ['well', '--flag', flag],
    ]);

    // a supplied set replaces: TWO goes, ONE stays, THREE comes
    const [three, nextFlag] = [secret('three'), secret('next-flag')];
    const changed = await connections.change('stdio', {
      environmentVariables: [{ name: 'ONE' }, { name: 'THREE', value: three }, { name: 'FAKE_LOG' }],
      args: [...created.args.slice(0, 2), { secret: 'flag', value: nextFlag }],
    });
    expect(changed.environmentVariables).toEqual(named('ONE', 'THREE', 'FAKE_LOG'));
    started = await connections.launched('stdio');
    expect(started.environment).toMatchObject({ ONE: one, THREE: three });
    expect(started.environment).not.toHaveProperty('TWO');
    expect(started.environment).not.toHaveProperty('EMPTY');
    expect(started.arguments).toEqual(['well', nextFlag]);

    const problem = { environmentVariables: [{ name: 'TWO' }] };
    const errors = await connections.refused(422, 'secret_value_required', 'stdio', problem);
    expect(errors.map(({ path }) => path)).toEqual(['environmentVariables[0].value']);
    expect(await connections.change('stdio', { environmentVariables: null })).toMatchObject({
      environmentVariables: [],
    });
  });

  it('are warned of where they may not do what their writer thinks', async () => {
    const created = await connections.createStdio('warned', {
      lifecycle: 'ephemeral',
      args: ['${HOME}/x', { secret: 's', value: 'short' }],
      environmentVariables: [
        { name: 'PLACE', value: '${DATABASE_URL}' },
        { name: 'SHORT', value: '1234567' },
        { name: 'LONG', value: '12345678' },
      ],
    });
    const warnings = created.warnings.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`);
    expect(warnings.toSorted()).toEqual([
      'args[2] placeholder_not_expanded',
      'args[3].value secret_too_short_to_redact',
      'environmentVariables[0].value placeholder_not_expanded',
      'environmentVariables[1].value secret_too_short_to_redact',
      'lifecycle stdio_ephemeral_slow',
    ]);
    const { environment, arguments: given } = await connections.launched('warned');
    expect([environment?.['PLACE'], given?.[1]]).toEqual(['${DATABASE_URL}', '${HOME}/x']);
    expect(await connections.read('warned')).toMatchObject({ warnings: created.warnings });
  });
});

describe('answers', () => {
  it('never held a secret value, nor did the log', () => {
    expect(connections.leaks()).toEqual([]);
    expect(connections.recorded()).toBeGreaterThan(30);
  });
});
