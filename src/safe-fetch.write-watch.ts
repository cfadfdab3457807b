/** What wants to know when a request begins and ends to be written. */
export interface WriteWatch {
  /** In the same synchronous turn as the first byte, before it; throws to keep it from being written. */
  beforeFirstByte(): void;
  /** The whole request was handed to the socket. */
  afterLastByte(): void;
}
