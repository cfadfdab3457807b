export const BOTH = 'application/json, text/event-stream';

export type Post = ReturnType<typeof posterTo>;

/** Posts as agent `ada`, accepting both forms of answer, unless the headers say otherwise. */
export function posterTo(url: URL) {
  return async (body: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'x-agent': 'ada', 'content-type': 'application/json', accept: BOTH, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.includes('json') === true;
    return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : undefined };
  };
}

export function rpc(id: unknown, method: string, params?: unknown): Record<string, unknown> {
  return { jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) };
}

export const CALL = { name: 'mcp_call', arguments: {} };
export const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A request of revision 2026-07-28 and the headers it needs. */
export function modern(method: string, params: Record<string, unknown> = {}): [unknown, Record<string, string>] {
  const headers: Record<string, string> = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method };
  if (typeof params['name'] === 'string') headers['mcp-name'] = params['name'];
  return [rpc(1, method, { ...params, _meta: ENVELOPE }), headers];
}
