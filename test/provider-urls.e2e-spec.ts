import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startWarren, type TestWarren } from './support/warren.js';

interface UrlInput {
  url: string;
  class: string;
  blockByDefault: boolean;
}

const { urls } = JSON.parse(readFileSync('test/cases/inputs/ssrf-urls.json', 'utf8')) as { urls: UrlInput[] };
/** Only a name server can tell; test/safe-fetch.e2e-spec.ts brings one of its own. */
const needsNames = (input: UrlInput): boolean => input.class.startsWith('name ');
const blocked = urls.filter((input) => input.blockByDefault && !needsNames(input));
const open = urls.filter((input) => !input.blockByDefault);
const SECRETS = /SECRET|:pw@/;

describe('URLs of providers, no private network being allowed', () => {
  let warren: TestWarren;

  beforeAll(async () => {
    warren = await startWarren({ environment: { WARREN_ALLOW_PRIVATE_NETWORKS: '' } });
  });

  afterAll(async () => {
    expect(warren.log()).not.toMatch(SECRETS);
    await warren.stop();
  });

  const save = (baseUrl: string, name: string) =>
    warren.api.post('/api/connections', { name, transport: 'http', baseUrl });

  /** What an operator is told: the field refused when it is saved, or why its provider is not reached. */
  const outcomeOf = async (url: string): Promise<{ told: string; why: string }> => {
    const saved = await save(url, url.slice(0, 120));
    if (saved.status === 400)
      return { told: JSON.stringify(saved.body), why: `not saved: ${saved.body.errors[0].path}` };
    const { body } = await warren.api.post(`/api/connections/${saved.body.id}/discover`);
    const named = /WARREN_ALLOW_PRIVATE_NETWORKS|metadata/.test(body.detail);
    return { told: JSON.stringify(body), why: named ? `not reached: ${body.reason}` : body.detail };
  };

  it.each(blocked)('never reach $url ($class)', async ({ url }) => {
    // fetch forbids port 9 by itself, which would hide what the address policy says
    const { told, why } = await outcomeOf(url.replace(':9', ':4711'));
    expect(['not saved: baseUrl', 'not reached: egress_denied']).toContain(why);
    expect(told).not.toMatch(SECRETS);
  });

  // not dialled here: they are other people's
  it.each(open.filter(({ url }) => !url.includes('#')))('may be saved: $url ($class)', async ({ url }) => {
    expect((await save(url, `open ${url}`)).status).toBe(201);
  });

  it.each(open.filter(({ url }) => url.includes('#')))(
    'hold no fragment, whatever they point at: $url',
    async ({ url }) => {
      expect(await save(url, `open ${url}`)).toMatchObject({ status: 400, body: { errors: [{ path: 'baseUrl' }] } });
    },
  );

  it('are all looked at', () => {
    expect(blocked.length + open.length + urls.filter(needsNames).length).toBe(urls.length);
    expect(urls.filter(needsNames)).toHaveLength(2);
  });
});
