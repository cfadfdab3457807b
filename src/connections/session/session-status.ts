import type { LastKnown } from '../../database.schema.js';
import type { LiveStateName } from './live-state.js';

/** The status that is stored when a lasting session enters a state. */
export const statusOf: Record<LiveStateName, LastKnown['status']> = {
  connecting: 'starting',
  connected: 'ready',
  error: 'unavailable',
  idle: 'stopped',
  closed: 'stopped',
};
