/** A transition that was noted elsewhere, at another time. */
export interface PastEvent {
  connectionId: string;
  at: Date;
  /** Stable words, as the store keeps them. */
  status: string;
  reason: string | null;
}

/** Status and reason are words of ours, never a provider's text. */
const STABLE_WORD = /^[a-z][a-z0-9_]{0,63}$/;

/** The word, or `unknown` for anything else. */
export function stableWord(word: string): string {
  return STABLE_WORD.test(word) ? word : 'unknown';
}

/** The newest events of each connection, at most `most` of each; of the same time, those later in the list are newer. */
export function newestOfEach(events: readonly PastEvent[], most: number): PastEvent[] {
  const byConnection = new Map<string, PastEvent[]>();
  for (const event of events) {
    const others = byConnection.get(event.connectionId);
    if (others === undefined) byConnection.set(event.connectionId, [event]);
    else others.push(event);
  }
  return [...byConnection.values()].flatMap((of) =>
    of.toSorted((a, b) => a.at.getTime() - b.at.getTime()).slice(-most),
  );
}
