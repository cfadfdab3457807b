import type { ToolAnswer } from '../support/agent-clients.js';

/** Whether the provider may have run a call, as the answer says it. */
export type Sent = 'no' | 'maybe' | 'yes';

/** One answer of `mcp_call`, whichever way it came. */
export type Outcome =
  | { kind: 'answered'; text: string }
  | { kind: 'refused'; code: string; sent: Sent; message: string }
  /** The caller left before an answer came. */
  | { kind: 'left' };

interface Receipt {
  ok: boolean;
  content: { type: string; text?: string }[];
  error?: { code: string; sent: Sent; message: string };
}

/** From the receipt that the REST menu answers. */
export function outcomeOfReceipt({ content, error }: Receipt): Outcome {
  return error === undefined ? { kind: 'answered', text: textOf(content) } : { kind: 'refused', ...error };
}

/** From a result over `/mcp`, whose first block is the error of a call that failed. */
export function outcomeOfToolAnswer({ content, isError }: ToolAnswer): Outcome {
  if (isError !== true) return { kind: 'answered', text: textOf(content) };
  return { kind: 'refused', ...(JSON.parse(content[0]?.text ?? '{}') as NonNullable<Receipt['error']>) };
}

/** The number that an answer begins with; undefined when it begins with none. */
export function numberOf(text: string): number | undefined {
  const digits = /^\d+/.exec(text)?.[0];
  return digits === undefined ? undefined : Number(digits);
}

function textOf(content: { text?: string }[]): string {
  return content.map(({ text = '' }) => text).join('');
}
