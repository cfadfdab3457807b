/** Hard bounds of one safe fetch. Sizes in bytes, times in milliseconds. */
export interface FetchLimits {
  /** Of a whole answer after decompression, and of one event of an event stream, whose total is not bounded. */
  bodyBytes: number;
  /** Of the answer's head, and again of its trailers. */
  headerBytes: number;
  headerCount: number;
  /** From name resolution to the finished TLS handshake. */
  connectMs: number;
  /** From the written request to the answer's head; longer than the longest call. */
  headersMs: number;
  /** Between two pieces of an answer; long, because an idle event stream is healthy. */
  idleMs: number;
  /** How long an idle socket is kept at most, whatever the server allows. */
  keepAliveMs: number;
  /** Sockets of one owner to one origin; as many calls as a connection may allow at once. */
  socketsPerOrigin: number;
  /** Sockets beside them for event streams; twice as many as a connection's sessions, some of which may be ending. */
  streamsPerOrigin: number;
}

export const defaultFetchLimits: FetchLimits = {
  bodyBytes: 16 * 1024 * 1024,
  headerBytes: 64 * 1024,
  headerCount: 256,
  connectMs: 10_000,
  headersMs: 310_000,
  idleMs: 900_000,
  keepAliveMs: 30_000,
  socketsPerOrigin: 64,
  streamsPerOrigin: 128,
};
