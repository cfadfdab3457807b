/** Top-level members of a message too large to parse, as spelled. */
export interface MessageMembers {
  id?: string;
  method?: string;
}

/** A string that is cut off counts as one token, so that reading stays linear. */
const TOKEN = /"(?:[^"\\]+|\\[^])*(?:"|\\?$)|[{}[\]:,]|[^\s"{}[\]:,]+/g;
/** Scalar members in a row that end the message: what stands behind a large result. */
const LAST_MEMBERS = /(?:,\s*"(?:jsonrpc|id|method)"\s*:\s*(?:"[^"\\]*"|\d+)\s*)+\}\s*$/;
const MEMBER = /,\s*"(id|method)"\s*:\s*("[^"\\]*"|\d+)/g;

/** What the beginning of a message tells: members of the outermost object whose values end within it. */
export function membersInHead(head: string): MessageMembers {
  const members: MessageMembers = {};
  let depth = 0;
  let [beforeLast, last] = ['', ''];
  for (const { 0: token, index } of head.matchAll(TOKEN)) {
    const isWhole = index + token.length < head.length;
    if (depth === 1 && last === ':' && isWhole) {
      if (beforeLast === '"id"') members.id = token;
      if (beforeLast === '"method"') members.method = token;
    }
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    [beforeLast, last] = [last, token];
  }
  return members;
}

/** What the end of a message tells; a string cannot look like it, because the message ends here. */
export function membersInTail(tail: string): MessageMembers {
  const members: MessageMembers = {};
  for (const [, name, value] of (LAST_MEMBERS.exec(tail)?.[0] ?? '').matchAll(MEMBER)) {
    if (name === 'id' && value !== undefined) members.id = value;
    if (name === 'method' && value !== undefined) members.method = value;
  }
  return members;
}
