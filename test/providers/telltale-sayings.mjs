import { Buffer } from 'node:buffer';

/** Everything an MCP provider can say, with these secrets in it, in every form that encoders write. */
export function sayings(secrets) {
  const said = secrets.flatMap(formsOf).join(' | ');
  const tools = ['ok', 'fail', 'refuse', 'echo'].map((name) => ({
    name,
    title: said,
    description: said,
    inputSchema: { type: 'object', properties: { [said]: { description: said, default: said } } },
    annotations: { title: said },
  }));
  const results = (id, { name, arguments: args, _meta }) => {
    const progressToken = _meta?.progressToken;
    const progress = { method: 'notifications/progress', params: { progressToken, progress: 1, message: said } };
    const content = [
      { type: 'text', text: name === 'echo' ? JSON.stringify(args) : said },
      { type: 'resource_link', uri: `file:///${encodeURIComponent(said)}`, name: said },
    ];
    const structuredContent = name === 'echo' ? args : { [said]: [said, { said }] };
    return [
      ...(progressToken === undefined ? [] : [progress]),
      name === 'refuse'
        ? { id, error: { code: -32_000, message: said, data: { said } } }
        : { id, result: { content, structuredContent, isError: name === 'fail', _meta: { said } } },
    ];
  };
  const replies = ({ id, method, params }) => {
    if (id === undefined || method === undefined) return [];
    if (method === 'initialize') {
      const serverInfo = { name: said, version: said };
      const { protocolVersion } = params;
      return [{ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo, instructions: said } }];
    }
    if (method === 'tools/list') return [{ id, result: { tools } }];
    if (method === 'tools/call') return results(id, params);
    return [{ id, error: { code: -32_601, message: said } }];
  };
  return { said, answer: (message) => replies(message).map((reply) => ({ jsonrpc: '2.0', ...reply })) };
}

function formsOf(secret) {
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].map((offset) => Buffer.concat([Buffer.alloc(offset, 'x'), bytes, Buffer.alloc(2, 'y')]));
  return [
    secret,
    ...secret.split('\n'),
    JSON.stringify(secret),
    encodeURIComponent(secret),
    new URLSearchParams({ secret }).toString(),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...shifted.flatMap((text) => [text.toString('base64'), text.toString('base64url')]),
  ];
}
