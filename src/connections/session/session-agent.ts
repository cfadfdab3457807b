/** The agent an operation runs for. */
export interface SessionAgent {
  id: string;
  /** Tells apart agents that bore one id after the other. */
  createdAt: Date;
}

/** Equal for the same agent, never for two. */
export function sessionAgentKey({ id, createdAt }: SessionAgent): string {
  return `${id} ${createdAt.getTime()}`;
}
