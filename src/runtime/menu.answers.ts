import type { CallProtection } from '../database.schema.js';
import type { ProviderFailureReason } from '../provider-failure.js';
import type { CallCode } from './call-codes.js';

/** Why a menu call failed, in a form a model can act on. */
export interface MenuError {
  code: CallCode;
  message: string;
  /** Whether the request may have reached the provider. */
  sent: 'no' | 'maybe' | 'yes';
  retryable: boolean;
  /** One sentence to act on. */
  hint?: string;
  reason?: ProviderFailureReason;
  retryAfterMs?: number;
  /** Ids of the providers an ambiguous name matches. */
  candidates?: string[];
  /** Up to 5 granted names near the one asked for. */
  suggestions?: string[];
  /** At most 10 offending arguments. */
  errors?: { path: string; message: string }[];
  /** At most 16,000 characters as JSON. */
  inputSchema?: unknown;
}

/** A provider's content block, passed on as it is after protection. */
export type ContentBlock = Record<string, unknown> & { type: string };

/** The answer to `mcp_call`. */
export interface CallReceipt {
  ok: boolean;
  callId: string;
  provider: { id: string; name: string } | string;
  tool: string;
  isError: boolean;
  content: ContentBlock[];
  structuredContent?: unknown;
  error?: MenuError;
  protection: CallProtection;
  truncated?: {
    originalChars: number;
    keptChars: number;
    contentBlocksDropped?: number;
    structuredContentDropped?: true;
  };
  durationMs: number;
}

/** The answer to `mcp_providers`. */
export interface ProvidersAnswer {
  providers: {
    id: string;
    name: string;
    transport: 'http' | 'stdio' | 'mod';
    available: boolean;
    state: string;
    catalogToolCount: number;
    grantedToolCount: number;
  }[];
  total: number;
  nextCursor: string | null;
}

/** The answer to `mcp_capabilities`. */
export interface CapabilitiesAnswer {
  provider: { id: string; name: string } | null;
  tools: {
    provider: string;
    name: string;
    title?: string;
    description: string;
    inputSchema?: unknown;
    schemaOmitted?: true;
    granted: boolean;
    available: boolean;
    annotations?: Record<string, unknown>;
  }[];
  totalCount: number;
  nextCursor: string | null;
  hint?: string;
  /** Named when nothing was found. */
  grantedProviders?: string[];
}

/** `mcp_providers` and `mcp_capabilities` fail in the same form as a call. */
export interface MenuFailure {
  ok: false;
  error: MenuError;
}

export type MenuAnswer =
  | { tool: 'mcp_call'; answer: CallReceipt }
  | { tool: 'mcp_providers'; answer: ProvidersAnswer | MenuFailure }
  | { tool: 'mcp_capabilities'; answer: CapabilitiesAnswer | MenuFailure };
