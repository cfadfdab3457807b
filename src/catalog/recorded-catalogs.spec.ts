import { describe, expect, it } from '@jest/globals';
import { recordedCatalogs, writtenTasks } from '../../test/recorded-catalogs.js';
import { compileSchema } from './schema-compiler.js';
import { collectTools } from './tool-definition.js';
import { readToolPages } from './tool-page-reader.js';

const catalogs = recordedCatalogs();

async function read(id: string) {
  const pages = catalogs.find((catalog) => catalog.id === id)?.pages ?? [];
  let next = 0;
  const { tools, bytes } = await readToolPages(async () => pages[next++]);
  return { bytes, entries: tools, ...collectTools(tools) };
}

describe('catalogs of public servers', () => {
  it.each(catalogs.map(({ id }) => id))('%s is read whole, without a warning', async (id) => {
    const { bytes, entries, tools, warnings } = await read(id);
    expect(tools.map(({ raw }) => raw)).toEqual(entries);
    expect(warnings).toEqual([]);
    expect(bytes).toBeGreaterThan(500);
  });

  it('have schemas that can all be checked', async () => {
    const unchecked: string[] = [];
    const figures = { catalogs: catalogs.length, tools: 0, bytes: 0, warnings: 0, milliseconds: 0 };
    for (const { id } of catalogs) {
      const { bytes, tools, warnings } = await read(id);
      figures.tools += tools.length;
      figures.bytes += bytes;
      figures.warnings += warnings.length;
      const started = performance.now();
      for (const { name, inputSchema } of tools) {
        const compiled = compileSchema(inputSchema);
        if ('unchecked' in compiled) unchecked.push(`${id}/${name}: ${compiled.unchecked}`);
      }
      figures.milliseconds += Math.round(performance.now() - started);
    }
    process.stdout.write(`${JSON.stringify({ ...figures, unchecked: unchecked.length })}\n`);
    expect(figures.tools).toBeGreaterThan(400);
    expect(unchecked).toEqual([]);
  });

  it.each([...writtenTasks('tasks'), ...writtenTasks('tasks-held-out')])(
    'take the arguments of "$task" and refuse others',
    async ({ expect: [wanted], arguments: given }) => {
      const { tools } = await read(wanted?.provider ?? '');
      const tool = tools.find(({ name }) => name === wanted?.tool);
      const compiled = compileSchema(tool?.inputSchema ?? { not: {} });
      if ('unchecked' in compiled) throw new Error(compiled.unchecked);
      expect(compiled.validate(given)).toEqual([]);
      expect(compiled.validate([given])).not.toEqual([]);
    },
  );
});
