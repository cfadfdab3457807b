/** What of a connection decides whether its sessions may live. */
export interface LaunchState {
  enabled: boolean;
  launchRevision: number;
}

/** Sessions with settings up to this launch revision have to end; those that started with newer ones stay. */
export function outdatedRevision({ enabled, launchRevision }: LaunchState): number {
  return enabled ? launchRevision - 1 : launchRevision;
}
