// A stdio MCP provider with the tools that the conformance suite wants to call: node conformance.provider.mjs
import { createInterface } from 'node:readline';

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ type: 'text', text: value });
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQIAAAAAAA==';
const image = { type: 'image', data: PIXEL, mimeType: 'image/png' };
const resource = (uri, mimeType, value) => ({ type: 'resource', resource: { uri, mimeType, text: value } });

const answers = {
  test_simple_text: { content: [text('One line of text.')] },
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }] },
  test_embedded_resource: { content: [resource('test://embedded', 'text/plain', 'The text of a resource.')] },
  test_multiple_content_types: {
    content: [text('Of every kind one:'), image, resource('test://mixed', 'application/json', '{"value":1}')],
  },
  test_error_handling: { content: [text('This tool always fails.')], isError: true },
  test_tool_with_progress: { content: [text('Done.')] },
};
const tools = Object.keys(answers).map((name) => ({ name, inputSchema: { type: 'object' } }));

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    const serverInfo = { name: 'conformance', version: '1.0.0' };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list') {
    send({ id, result: { tools } });
  } else if (method === 'tools/call') {
    const progressToken = params._meta?.progressToken;
    if (params.name === 'test_tool_with_progress' && progressToken !== undefined) {
      for (const progress of [0, 50, 100]) {
        send({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      }
    }
    send({ id, result: answers[params.name] });
  } else if (id !== undefined) {
    send({ id, error: { code: -32601, message: 'Method not found' } });
  }
});
