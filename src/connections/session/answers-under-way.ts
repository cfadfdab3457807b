/**
 * Our answers to a provider's own requests that it has not taken yet. A provider may ask faster than it listens, so there
 * is a bound on how many there are and how large they are together; what a single one may exceed.
 */
export class AnswersUnderWay {
  private count = 0;
  private bytes = 0;

  constructor(
    private readonly most: { count: number; bytes: number },
    private readonly onRoom: () => void = () => undefined,
  ) {}

  get isFull(): boolean {
    return this.count >= this.most.count || this.bytes >= this.most.bytes;
  }

  /** Counts an answer until `send` has settled; resolves or rejects as it does. */
  async send(bytes: number, send: () => Promise<void>): Promise<void> {
    this.count += 1;
    this.bytes += bytes;
    try {
      await send();
    } finally {
      const wasFull = this.isFull;
      this.count -= 1;
      this.bytes -= bytes;
      if (wasFull && !this.isFull) this.onRoom();
    }
  }
}
