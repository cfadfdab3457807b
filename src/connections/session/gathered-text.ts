/** A buffer larger than this is not kept for the next text, bytes. */
const KEPT_BYTES = 65_536;

/**
 * Text that comes in pieces. It takes at most twice the room of its bytes, however small the pieces are and whatever they
 * were cut from.
 */
export class GatheredText {
  private bytes = Buffer.alloc(0);
  private length = 0;

  add(piece: Uint8Array): void {
    const length = this.length + piece.length;
    if (length > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.length));
      larger.set(this.bytes.subarray(0, this.length));
      this.bytes = larger;
    }
    this.bytes.set(piece, this.length);
    this.length = length;
  }

  /** The whole text, of which nothing stays behind. */
  take(): string {
    const text = this.bytes.toString('utf8', 0, this.length);
    this.length = 0;
    if (this.bytes.length > KEPT_BYTES) this.bytes = Buffer.alloc(0);
    return text;
  }
}
