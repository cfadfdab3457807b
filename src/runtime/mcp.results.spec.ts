import { describe, expect, it } from '@jest/globals';
import { toToolResult } from './mcp.results.js';
import type { CallReceipt, ContentBlock, MenuError } from './menu.answers.js';

const CLEAN = { status: 'clean', redacted: 0, sealed: 0, types: [] } as const;
const ERROR: MenuError = {
  code: 'mcp_tool_failed',
  message: 'The tool failed.',
  sent: 'yes',
  retryable: false,
  hint: 'Read the text.',
};

function receipt(fields: Partial<CallReceipt>): { tool: 'mcp_call'; answer: CallReceipt } {
  return {
    tool: 'mcp_call',
    answer: {
      ok: true,
      callId: 'call-1',
      provider: { id: 'files', name: 'Files' },
      tool: 'read',
      isError: false,
      content: [{ type: 'text', text: 'hello' }],
      protection: { ...CLEAN, types: [] },
      durationMs: 3,
      ...fields,
    },
  };
}

const PIXEL = 'iVBORw0KGgo=';
const ZOO: ContentBlock[] = [
  { type: 'text', text: 'one', annotations: { audience: ['user'], priority: 0.5 }, _meta: { 'a/b': 1 } },
  { type: 'image', data: PIXEL, mimeType: 'image/png' },
  { type: 'audio', data: PIXEL, mimeType: 'audio/wav' },
  { type: 'resource_link', uri: 'file:///a', name: 'a', description: 'd' },
  { type: 'resource', resource: { uri: 'file:///b', text: 'inside', mimeType: 'text/plain' } },
];

describe('the result of mcp_call', () => {
  it('passes every known block through unchanged, with callId and protection in _meta', () => {
    const result = toToolResult(receipt({ content: ZOO }), 'modern');
    expect(result.content).toEqual(ZOO);
    expect(result.isError).toBeUndefined();
    expect(result._meta).toEqual({ 'warren/callId': 'call-1', 'warren/protection': CLEAN });
  });

  it('puts the error first as compact JSON and the blocks of the provider after it', () => {
    const result = toToolResult(receipt({ ok: false, isError: true, error: ERROR }), 'legacy');
    expect(result.isError).toBe(true);
    expect(result.content).toEqual([
      { type: 'text', text: JSON.stringify(ERROR) },
      { type: 'text', text: 'hello' },
    ]);
    expect(result._meta).toMatchObject({ 'warren/callId': 'call-1' });
  });

  it('says so when there is no content', () => {
    expect(toToolResult(receipt({ content: [] }), 'modern').content).toEqual([
      { type: 'text', text: 'The tool answered without any content.' },
    ]);
  });

  it('shows structured content as text when there is no other', () => {
    const result = toToolResult(receipt({ content: [], structuredContent: { a: [1] } }), 'modern');
    expect(result.content).toEqual([{ type: 'text', text: '{"a":[1]}' }]);
    expect(result.structuredContent).toEqual({ a: [1] });
  });

  it.each([[[1, 2]], [null], [7], ['text'], [false]])(
    'keeps structured content %j where the era allows it',
    (value) => {
      const answer = receipt({ structuredContent: value });
      const modern = toToolResult(answer, 'modern');
      expect(modern.structuredContent).toEqual(value);
      expect(modern.content).toHaveLength(1);
      const legacy = toToolResult(answer, 'legacy');
      expect('structuredContent' in legacy).toBe(false);
      expect(legacy.content).toEqual([
        { type: 'text', text: 'hello' },
        { type: 'text', text: JSON.stringify(value) },
      ]);
    },
  );

  it('does not repeat structured content that the provider already gave as text', () => {
    const content = [{ type: 'text', text: '[1,2]' }];
    expect(toToolResult(receipt({ content, structuredContent: [1, 2] }), 'legacy').content).toEqual(content);
  });

  it('keeps objects as structured content in both eras', () => {
    const structuredContent = { list: [], nothing: null };
    for (const era of ['legacy', 'modern'] as const) {
      expect(toToolResult(receipt({ structuredContent }), era)).toMatchObject({
        structuredContent,
        content: [{ type: 'text', text: 'hello' }],
      });
    }
  });

  it('marks blocks of unknown type and malformed blocks, and keeps the others', () => {
    const content: ContentBlock[] = [
      { type: 'video', data: PIXEL },
      { type: 'image', data: '***', mimeType: 'image/png' },
      { type: 'image', data: PIXEL },
      { type: 'text', text: 5 },
      { type: 'text', text: 'kept' },
    ];
    const texts = toToolResult(receipt({ content }), 'modern').content.map((block) => 'text' in block && block.text);
    expect(texts).toEqual([
      '[left out: a content block of type "video", which is unknown here]',
      '[left out: a content block of type "image" that is malformed]',
      '[left out: a content block of type "image" that is malformed]',
      '[left out: a content block of type "text" that is malformed]',
      'kept',
    ]);
  });

  it('drops malformed extras rather than the block', () => {
    const content: ContentBlock[] = [
      { type: 'text', text: 'kept', annotations: { priority: 'high' } },
      { type: 'resource_link', uri: 'file:///a' },
    ];
    expect(toToolResult(receipt({ content }), 'legacy').content).toEqual([
      { type: 'text', text: 'kept' },
      { type: 'resource_link', uri: 'file:///a', name: 'file:///a' },
    ]);
  });
});

describe('the results of mcp_providers and mcp_capabilities', () => {
  it('are compact JSON text', () => {
    const answer = { providers: [], total: 0, nextCursor: null };
    expect(toToolResult({ tool: 'mcp_providers', answer }, 'modern')).toEqual({
      content: [{ type: 'text', text: '{"providers":[],"total":0,"nextCursor":null}' }],
    });
  });

  it('fail in the same form as a call', () => {
    const failure = { tool: 'mcp_capabilities', answer: { ok: false, error: ERROR } } as const;
    const expected = { content: [{ type: 'text', text: JSON.stringify(ERROR) }], isError: true };
    expect(toToolResult(failure, 'modern')).toEqual(expected);
  });
});
