export const menuToolNames = ['mcp_providers', 'mcp_capabilities', 'mcp_call'] as const;
export type MenuToolName = (typeof menuToolNames)[number];

export interface MenuToolDefinition {
  name: MenuToolName;
  title: string;
  description: string;
  annotations: { readOnlyHint: boolean; openWorldHint?: boolean };
  inputSchema: {
    type: 'object';
    properties: Record<string, { type: string; description: string }>;
    required?: string[];
  };
}

/**
 * The whole menu. Byte-stable: the same for every agent, provider and restart, because prompt caches depend on it.
 * `menu.definitions.spec.ts` holds the bytes.
 */
export const menuTools: readonly MenuToolDefinition[] = [
  {
    name: 'mcp_providers',
    title: 'Overview of tool providers',
    description:
      'Lists the tool providers you can see, with how many of their tools you may use. Only an overview: when you know what you want to do, start with mcp_capabilities instead.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'Only providers whose id or name contains this text.' },
        cursor: { type: 'string', description: 'nextCursor of the page before.' },
      },
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'mcp_capabilities',
    title: 'Find a tool',
    description:
      'Start here. Say in `query`, in plain words, what you want to do; all providers are searched and the best tools come back with the inputSchema to fill in. Then use mcp_call. `granted: false` means you may not use that tool: do not try it, tell the user instead. A tool with `schemaOmitted: true` shows its schema when you ask again with its exact name as `query`.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What you want to do, or an exact tool name.' },
        provider: { type: 'string', description: 'Search only this provider (id or name). Leave out to search all.' },
        cursor: { type: 'string', description: 'nextCursor of the page before.' },
        limit: { type: 'integer', description: 'Tools a page, 1 to 20 (default 12).' },
      },
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'mcp_call',
    title: 'Call a tool',
    description:
      "Calls one tool. Copy `provider` and `tool` exactly as mcp_capabilities gave them, and put all of the tool's parameters inside `arguments`, following its inputSchema. When the answer has `ok: false`, read `error.hint`; repeat the call unchanged only if `error.retryable` is true.",
    inputSchema: {
      type: 'object',
      properties: {
        provider: { type: 'string', description: 'Provider id, as in mcp_capabilities.' },
        tool: { type: 'string', description: 'Exact tool name, as in mcp_capabilities.' },
        arguments: { type: 'object', description: "The tool's parameters, as its inputSchema asks." },
      },
      required: ['provider', 'tool'],
    },
    annotations: { readOnlyHint: false },
  },
];

/** The input schema of one of them. */
export function menuSchemaOf(name: MenuToolName): MenuToolDefinition['inputSchema'] | undefined {
  return menuTools.find((tool) => tool.name === name)?.inputSchema;
}
