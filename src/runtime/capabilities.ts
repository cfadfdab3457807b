import type { CapabilityHit } from '../catalog/capabilities-search.service.js';
import { checkTool } from '../catalog/tool-definition.js';
import type { CapabilitiesAnswer } from './menu.answers.js';

const MAX_DESCRIPTION = 2_000;
const MAX_UNGRANTED_DESCRIPTION = 200;
/** All schemas of a page together, as JSON characters. */
const SCHEMA_BUDGET = 16_000;

type ShownTool = CapabilitiesAnswer['tools'][number];

/**
 * Hits as an agent sees them, best first: schemas until the budget is used, none for tools it may not call. A query that
 * is a tool's exact name always gets that tool's schema.
 */
export function showTools(
  hits: readonly CapabilityHit[],
  query: string | undefined,
  isAvailable: (providerId: string) => boolean,
): ShownTool[] {
  let budget = SCHEMA_BUDGET;
  return hits.map((hit) => {
    const tool = showTool(hit, isAvailable(hit.providerId));
    if (!hit.granted) return tool;
    const inputSchema = schemaOf(hit);
    const size = JSON.stringify(inputSchema).length;
    if (size > budget && hit.name !== query?.trim()) return { ...tool, schemaOmitted: true };
    budget -= size;
    return { ...tool, inputSchema };
  });
}

function showTool(hit: CapabilityHit, available: boolean): ShownTool {
  const checked = checkTool(hit.definition);
  const annotations = 'tool' in checked ? checked.tool.annotations : undefined;
  return {
    provider: hit.providerId,
    name: hit.name,
    ...(hit.title === null || hit.title === undefined ? {} : { title: cut(hit.title, MAX_UNGRANTED_DESCRIPTION) }),
    description: cut(hit.description ?? '', hit.granted ? MAX_DESCRIPTION : MAX_UNGRANTED_DESCRIPTION),
    granted: hit.granted,
    available,
    ...(annotations === undefined || !hit.granted ? {} : { annotations }),
  };
}

function schemaOf(hit: CapabilityHit): unknown {
  const checked = checkTool(hit.definition);
  return 'tool' in checked ? checked.tool.inputSchema : { type: 'object' };
}

/** At most `maximum` characters, cut between characters, with a visible mark. */
function cut(text: string, maximum: number): string {
  if (text.length <= maximum) return text;
  let end = maximum - 1;
  const code = text.charCodeAt(end);
  if (code >= 0xdc00 && code <= 0xdfff) end -= 1;
  return `${text.slice(0, end)}…`;
}
