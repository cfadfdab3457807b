/**
 * What a grant is for. The two parts are never joined, cleaned or case-folded: a tool name may hold any characters, so
 * every joined form would have two meanings.
 */
export interface ToolKey {
  providerId: string;
  toolName: string;
}

/** A tool as a request names it, with where it stands there, e.g. `tools[3]`. */
export interface NamedTool extends ToolKey {
  path: string;
}

/** A set of keys. */
export class ToolKeySet {
  private readonly names = new Map<string, Set<string>>();

  constructor(keys: Iterable<ToolKey> = []) {
    for (const key of keys) this.add(key);
  }

  has({ providerId, toolName }: ToolKey): boolean {
    return this.names.get(providerId)?.has(toolName) ?? false;
  }

  /** False when the key was in the set before. */
  add(key: ToolKey): boolean {
    if (this.has(key)) return false;
    const names = this.names.get(key.providerId) ?? new Set();
    this.names.set(key.providerId, names.add(key.toolName));
    return true;
  }
}

/** The tools of one list of a request, each once, at its first place. */
export function nameTools(
  list: string,
  tools: readonly { connectionId: string; toolName: string }[] | null | undefined,
): NamedTool[] {
  const seen = new ToolKeySet();
  return (tools ?? [])
    .map(({ connectionId, toolName }, index) => ({ providerId: connectionId, toolName, path: `${list}[${index}]` }))
    .filter((tool) => seen.add(tool));
}
