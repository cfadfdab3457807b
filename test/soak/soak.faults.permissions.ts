import { BROKEN, expectCode, type Fault } from './soak.fault.js';
import { PROBER, TOOLS } from './soak.house.js';

/** What an operator takes away and gives back. */
export const permissionFaults: readonly Fault[] = [
  {
    name: 'grants removed and given back',
    targets: ['line', 'web'],
    codes: [],
    fire: async (scene) => {
      const stuck = await scene.stuckCall();
      const grants = TOOLS.map((toolName) => ({ connectionId: scene.target, toolName }));
      const tools = `/api/agents/${PROBER}/mcp-tools`;
      await scene.house.api.expect(200, 'PATCH', tools, { remove: grants });
      expectCode(await scene.call('echo'), 'mcp_tool_not_granted');
      expectCode(await stuck.outcome, 'mcp_call_cancelled');
      await scene.house.api.expect(200, 'PATCH', tools, { add: grants });
      await scene.recover();
    },
  },
  {
    name: 'connection disabled and enabled',
    targets: ['line', 'web'],
    codes: ['mcp_provider_not_available', 'mcp_call_cancelled', ...BROKEN],
    fire: async (scene) => {
      const stuck = await scene.stuckCall();
      await scene.change({ enabled: false });
      expectCode(await scene.call('echo'), 'mcp_provider_not_available');
      // the session ends with the connection, so that either may reach the call first
      const outcome = await stuck.outcome;
      if (outcome.kind !== 'refused' || !/^mcp_call_(cancelled|interrupted)$/.test(outcome.code)) {
        throw new Error(`a call of a disabled connection ended with ${JSON.stringify(outcome)}`);
      }
      await scene.change({ enabled: true });
      await scene.recover();
    },
  },
];
