import { readFileSync } from 'node:fs';

/** The variable in the environment of everything Warren starts. */
export const CHILD_MARKER = 'WARREN_CHILD';

/** Whose a process is. */
export interface ChildMarker {
  instanceId: string;
  ownerPid: number;
  /** When the owner started, see `ProcessStat`. */
  ownerStart: string;
}

const PATTERN = /^([^,]*),(\d+),(\d+)(?:,\d+)?$/;

/** `<instance id>,<owner pid>,<owner start>,<number of the launch>`, which no other launch ever has. */
export function childMarker({ instanceId, ownerPid, ownerStart }: ChildMarker, launch: number): string {
  return `${instanceId},${ownerPid},${ownerStart},${launch}`;
}

/** Also of markers that do not tell the launch, which older versions set. Undefined for anything else. */
export function parseChildMarker(marker: string): ChildMarker | undefined {
  const [, instanceId, ownerPid, ownerStart] = PATTERN.exec(marker) ?? [];
  if (instanceId === undefined || ownerStart === undefined) return undefined;
  return { instanceId, ownerPid: Number(ownerPid), ownerStart };
}

/** The marker in the environment of a process; undefined where there is none or it cannot be read. */
export function markerOf(pid: number): string | undefined {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
    return new RegExp(`(?:^|\\0)${CHILD_MARKER}=([^\\0]*)`).exec(environment)?.[1];
  } catch {
    return undefined;
  }
}
