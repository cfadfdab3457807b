import { Injectable } from '@nestjs/common';
import { Metrics } from '../metrics.js';
import { liveStates } from './session/live-state.js';
import { ProviderProcesses } from './session/provider-processes.js';
import { SessionManager } from './session/session-manager.js';

/** Measures sessions and provider processes of this process. */
@Injectable()
export class SessionMetrics {
  constructor(metrics: Metrics, processes: ProviderProcesses, sessions: SessionManager) {
    metrics.gauge({ name: 'warren_provider_processes', help: 'Living provider processes.' }, () => processes.count);
    // only those that have one, so never more series than WARREN_MAX_PROCESSES
    metrics.gauges(
      { name: 'warren_connection_processes', help: 'Living provider processes of each connection that has any.' },
      'connection_id',
      () => processes.countsByConnection(),
    );
    metrics.gauges({ name: 'warren_provider_sessions', help: 'keep_alive sessions, by state.' }, 'state', () => {
      const states = sessions.lastingStates();
      return liveStates.map((state) => [state, states.filter((each) => each === state).length] as const);
    });
  }
}
