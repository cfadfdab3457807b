import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { menuSchemaOf, menuToolNames, menuTools, type MenuToolName } from './menu.definitions.js';

/** Prompt caches depend on these bytes: change them only on purpose, and say so in the changelog. */
const BYTES = '3f476fada0fc3fcd437e31eaaf17b6bd4c6d44598d600ba8f605caa094c131a5';

function descriptionOf(name: MenuToolName): string {
  return menuTools.find((tool) => tool.name === name)?.description ?? '';
}

describe('the menu', () => {
  it('has the bytes it always had', () => {
    expect(createHash('sha256').update(JSON.stringify(menuTools)).digest('hex')).toBe(BYTES);
  });

  it('is the three tools', () => {
    expect(menuTools.map(({ name }) => name)).toEqual(['mcp_providers', 'mcp_capabilities', 'mcp_call']);
    expect(menuToolNames).toEqual(menuTools.map(({ name }) => name));
  });

  it('has schemas that every client takes', () => {
    for (const { name, inputSchema } of menuTools) {
      expect([name, Object.keys(inputSchema)]).toEqual([name, expect.arrayContaining(['type', 'properties'])]);
      expect(inputSchema.type).toBe('object');
      expect(JSON.stringify(inputSchema)).not.toMatch(/\$schema|\$ref|oneOf|anyOf|allOf/);
      for (const [property, { type, description }] of Object.entries(inputSchema.properties)) {
        expect([property, type]).toEqual([property, expect.stringMatching(/^(string|integer|object)$/)]);
        expect(description).toMatch(/^\S.*\.$/);
      }
      for (const required of inputSchema.required ?? []) expect(inputSchema.properties).toHaveProperty(required);
      expect(menuSchemaOf(name)).toBe(inputSchema);
    }
    expect(menuSchemaOf('mcp_call')?.required).toEqual(['provider', 'tool']);
    expect(menuSchemaOf('mcp_capabilities')?.required).toBeUndefined();
  });

  it('names no provider, agent or version, so that it is the same for everyone', () => {
    expect(JSON.stringify(menuTools)).not.toMatch(/warren|\d+\.\d+\.\d+|https?:/i);
  });

  it.each([
    ['mcp_capabilities', /^Start here\b/],
    ['mcp_capabilities', /`query`.*what you want to do/],
    ['mcp_capabilities', /all providers are searched/],
    ['mcp_capabilities', /inputSchema to fill in/],
    ['mcp_capabilities', /`granted: false` means.*do not try it, tell the user/],
    ['mcp_capabilities', /`schemaOmitted: true`.*exact name as `query`/],
    ['mcp_call', /Copy `provider` and `tool` exactly/],
    ['mcp_call', /all of the tool's parameters inside `arguments`/],
    ['mcp_call', /`ok: false`, read `error\.hint`/],
    ['mcp_call', /repeat the call unchanged only if `error\.retryable` is true/],
    ['mcp_providers', /overview/i],
    ['mcp_providers', /when you know what you want to do, start with mcp_capabilities/],
  ] as const)('leads a model: %s says %s', (name, sentence) => {
    expect(descriptionOf(name)).toMatch(sentence);
  });

  it('is short enough to be read', () => {
    expect(JSON.stringify(menuTools).length).toBeLessThan(3_000);
  });
});
