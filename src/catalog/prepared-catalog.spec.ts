import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { canonicalJson, sha256Hex } from '../canonical-json.js';
import { Redactor } from '../redactor.js';
import { prepareCatalog } from './prepared-catalog.js';

const prepare = async (...entries: unknown[]) => prepareCatalog(entries, new Redactor(['opensesame']));

describe('a prepared catalog', () => {
  it('holds definitions as they came, members in their order', async () => {
    const entry = { zeta: [1, 2.5], name: 'a', inputSchema: { type: 'object', b: 1, a: 2 }, icons: null };
    const { tools, warnings } = await prepare(entry);
    expect(tools[0]?.stored.definition).toBe(JSON.stringify(entry));
    expect(warnings).toEqual([]);
  });

  it('hashes name, title, description, schemas and annotations as they are stored, and nothing else', async () => {
    const parts = {
      name: 'a',
      description: 'says opensesame',
      inputSchema: { type: 'object' },
      annotations: { title: 'A' },
    };
    const { tools } = await prepare({ ...parts, _meta: { seen: 1 } });
    const expected = sha256Hex(canonicalJson({ ...parts, description: 'says [redacted]' }));
    expect(tools[0]?.stored.definitionHash).toBe(expected);
    expect(tools[0]?.stored.title).toBe('A');
  });

  it('numbers the tools it keeps and digests their text', async () => {
    const { tools } = await prepare({ name: 'a' }, { name: '' }, { name: 'opensesame' }, { name: 'b' });
    expect(tools.map(({ stored }) => [stored.name, stored.position])).toEqual([
      ['a', 0],
      ['b', 1],
    ]);
    for (const { stored } of tools) {
      expect(stored.textDigest).toBe(createHash('md5').update(stored.definition).digest('hex'));
    }
  });

  it('survives numbers beyond doubles and deep nesting, one tool at a time', async () => {
    const infinite: unknown = JSON.parse('{"name": "big", "inputSchema": {"type": "object", "maximum": 1e999}}');
    let deep: unknown = {};
    for (let level = 0; level < 50_000; level += 1) deep = [deep];
    const { tools, warnings } = await prepare(
      infinite,
      { name: 'deep', inputSchema: { type: 'object', deep } },
      { name: 'last' },
    );
    expect(tools.map(({ stored }) => stored.name)).toEqual(['big', 'deep', 'last']);
    expect(JSON.parse(tools[0]?.stored.definition ?? '')).toMatchObject({ inputSchema: { maximum: null } });
    expect(warnings.map(({ code }) => code)).toContain('definition_too_deep');
  });

  it('is cleared of secrets before anything of it is cut', async () => {
    const secret = 'correct-horse-battery-staple';
    const odd = { name: 'x'.repeat(110) + secret, inputSchema: 7 };
    const large = {
      name: 'large',
      description: `${'d'.repeat(15_985)}${secret}`,
      inputSchema: { x: 'x'.repeat(300_000) },
    };
    const { tools, warnings } = await prepareCatalog(
      [odd, odd, { name: `\u0007${'x'.repeat(110)}${secret}` }, { name: 'x'.repeat(600) + secret }, large],
      new Redactor([secret]),
    );
    expect(warnings.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['duplicate_name', 'input_schema_invalid', 'name_invalid', 'name_too_long']),
    );
    expect(tools.map(({ stored }) => stored.description?.slice(15_980))).toEqual(['ddddd[redacted]']);
    expect(JSON.stringify([tools, warnings])).not.toContain('correct-');
  });
});
