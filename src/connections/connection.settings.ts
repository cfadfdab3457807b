import type { LaunchArgument, Lifecycle, SessionScope, Transport } from '../database.schema.js';

/** Everything an operator sets on a connection, apart from secret values. */
export interface ConnectionSettings {
  name: string;
  transport: Transport;
  baseUrl: string | null;
  command: string | null;
  args: LaunchArgument[];
  cwd: string | null;
  lifecycle: Lifecycle;
  enabled: boolean;
  connectTimeoutMs: number;
  callTimeoutMs: number;
  maxConcurrentCalls: number;
  maxResultChars: number;
  sessionScope: SessionScope;
  maxSessions: number;
  sealedAudience: string[];
  /** Exact tool names; null: no filter. */
  allowTools: string[] | null;
  denyTools: string[] | null;
  sealsValues: boolean;
}

type Fixed = 'transport';

/** A change of settings: a field left out stays, `null` goes back to its default. */
export type SettingsChange = { [Field in Exclude<keyof ConnectionSettings, Fixed>]?: ConnectionSettings[Field] | null };

export const connectionDefaults = {
  baseUrl: null,
  command: null,
  args: [],
  cwd: null,
  lifecycle: 'ephemeral',
  enabled: true,
  connectTimeoutMs: 20_000,
  callTimeoutMs: 30_000,
  maxConcurrentCalls: 16,
  maxResultChars: 60_000,
  sessionScope: 'connection',
  maxSessions: 8,
  sealedAudience: [],
  allowTools: null,
  denyTools: null,
  sealsValues: false,
} as const satisfies {
  [Field in Exclude<keyof ConnectionSettings, Fixed | 'name'>]: Readonly<ConnectionSettings[Field]>;
};

/** Settings of a new connection. */
export function initialSettings(name: string, transport: Transport, change: SettingsChange): ConnectionSettings {
  const { args, sealedAudience, ...plain } = connectionDefaults;
  return changedSettings({ ...plain, args: [...args], sealedAudience: [...sealedAudience], name, transport }, change);
}

/** Settings after a change; pure. A `null` name is refused before (there is no default). */
export function changedSettings(current: ConnectionSettings, change: SettingsChange): ConnectionSettings {
  const changed: Record<string, unknown> = { ...current };
  for (const field of ['name', ...settingsWithDefault] as const) {
    const value = change[field];
    if (value === undefined) continue;
    changed[field] = value ?? (field === 'name' ? current.name : connectionDefaults[field]);
  }
  return changed as unknown as ConnectionSettings;
}

/** The settings alone of something that has more. */
export function settingsOf(more: ConnectionSettings): ConnectionSettings {
  const fields = ['name', 'transport', ...settingsWithDefault] as const;
  return Object.fromEntries(fields.map((field) => [field, more[field]])) as unknown as ConnectionSettings;
}

const settingsWithDefault = Object.keys(connectionDefaults) as (keyof typeof connectionDefaults)[];

/** Settings that a live session was started with: a change of one ends it. Secrets count too (see the service). */
const launchSettings = [
  'baseUrl',
  'command',
  'args',
  'cwd',
  'lifecycle',
  'enabled',
  'sessionScope',
] as const satisfies (keyof ConnectionSettings)[];

/** The fields that differ. */
export function differences(before: ConnectionSettings, after: ConnectionSettings): (keyof ConnectionSettings)[] {
  const fields = Object.keys(before) as (keyof ConnectionSettings)[];
  return fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
}

/** Whether a live session must end when these fields change. */
export function affectsLaunch(changed: readonly (keyof ConnectionSettings)[]): boolean {
  return changed.some((field) => (launchSettings as readonly string[]).includes(field));
}

const revokingFields = new Set<string>([
  ...launchSettings,
  'allowTools',
  'denyTools',
  'apiKey',
  'headers',
  'queryParameters',
  'environmentVariables',
]);

/** Whether a change with these fields may take permission away or end a session, and so must hold at once everywhere. */
export function mayRevoke(change: object): boolean {
  return Object.entries(change).some(([field, value]) => value !== undefined && revokingFields.has(field));
}
