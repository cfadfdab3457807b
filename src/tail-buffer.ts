/** Keeps the last `maximum` bytes of a stream; older ones are forgotten. */
export class TailBuffer {
  private chunks: Buffer[] = [];
  private size = 0;

  constructor(private readonly maximum: number) {}

  push(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.size += chunk.length;
    let first = this.chunks[0];
    while (first !== undefined && this.size - first.length >= this.maximum) {
      this.size -= first.length;
      this.chunks.shift();
      first = this.chunks[0];
    }
  }

  /** The tail as text; a character cut in two at its start is left out. */
  text(): string {
    let bytes = Buffer.concat(this.chunks);
    if (bytes.length > this.maximum) bytes = bytes.subarray(bytes.length - this.maximum);
    let start = 0;
    // 10xxxxxx continues a character that began before the tail
    while (start < 4 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return bytes.subarray(start).toString('utf8');
  }
}
