import { specTypeSchemas } from '@modelcontextprotocol/server';
import type { ContentBlock } from './menu.answers.js';

/**
 * Content blocks as a client can read them; pure. One block that the protocol does not allow would make the whole
 * result unreadable, so it is reduced to what it needs, or replaced by a text mark.
 */
export function readableBlocks(blocks: readonly ContentBlock[]): ContentBlock[] {
  return blocks.map((block) => {
    if (isReadable(block)) return block;
    const plain = withoutExtras(block);
    return plain !== undefined && isReadable(plain) ? plain : textBlock(markFor(block));
  });
}

export function textBlock(text: string): ContentBlock {
  return { type: 'text', text };
}

function isReadable(block: ContentBlock): boolean {
  if (block.type === 'text' && block['annotations'] === undefined && block['_meta'] === undefined) {
    return typeof block['text'] === 'string';
  }
  return specTypeSchemas.ContentBlock['~standard'].validate(block).issues === undefined;
}

/** The block without optional members: malformed annotations are no reason to lose a text. */
function withoutExtras(block: ContentBlock): ContentBlock | undefined {
  const { type, text, data, mimeType, uri, name, resource } = block;
  switch (type) {
    case 'text':
      return { type, text };
    case 'image':
    case 'audio':
      return { type, data, mimeType };
    case 'resource_link':
      return { type, uri, name: typeof name === 'string' ? name : uri };
    case 'resource':
      return { type, resource };
    default:
      return undefined;
  }
}

const KNOWN_TYPES = new Set(['text', 'image', 'audio', 'resource_link', 'resource']);

function markFor({ type }: ContentBlock): string {
  const shown = JSON.stringify(Array.from(type).slice(0, 100).join(''));
  return KNOWN_TYPES.has(type)
    ? `[left out: a content block of type ${shown} that is malformed]`
    : `[left out: a content block of type ${shown}, which is unknown here]`;
}
