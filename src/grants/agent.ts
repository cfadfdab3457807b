import type { Selectable } from 'kysely';
import type { AgentsTable } from '../database.schema.js';

/** An agent as stored. */
export type AgentRow = Selectable<AgentsTable>;

export const agentVisibilities = ['all', 'granted'] as const;

/** What an agent has when nothing else is said, and what `null` in a change resets it to. */
export const AGENT_DEFAULTS = { enabled: true, visibility: 'all' } as const;
