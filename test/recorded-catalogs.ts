import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The `tools/list` answers of a public server, as they were received. */
export interface RecordedCatalog {
  /** File name without its ending; also the provider's id in tests. */
  id: string;
  path: string;
  serverName: string;
  pages: { tools: unknown[]; nextCursor?: string | null }[];
}

/** A sentence an agent might write, the tools that would do, and arguments for the first of them. */
export interface WrittenTask {
  task: string;
  expect: { provider: string; tool: string }[];
  arguments: Record<string, unknown>;
}

const DATA = new URL('./data/', import.meta.url);

/** All recorded catalogs by file name. */
export function recordedCatalogs(): RecordedCatalog[] {
  const files = readdirSync(new URL('catalogs/', DATA)).filter((name) => name.endsWith('.json'));
  return files.toSorted().map((file) => {
    const path = fileURLToPath(new URL(`catalogs/${file}`, DATA));
    const recorded = JSON.parse(readFileSync(path, 'utf8')) as {
      initialize?: { serverInfo?: { name?: string } };
      pages: RecordedCatalog['pages'];
    };
    const id = file.slice(0, -'.json'.length);
    return { id, path, serverName: recorded.initialize?.serverInfo?.name ?? id, pages: recorded.pages };
  });
}

/** `held-out` tasks were written after the ranking was finished. */
export function writtenTasks(which: 'tasks' | 'tasks-held-out'): WrittenTask[] {
  return JSON.parse(readFileSync(new URL(`${which}.json`, DATA), 'utf8')) as WrittenTask[];
}
