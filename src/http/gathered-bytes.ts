/**
 * Joins the pieces of a body as they arrive. A client or a provider may send single bytes, and a list of such pieces takes more than a hundred times
 * their bytes; here each byte is copied about twice and takes about two.
 */
import { Buffer } from "node:buffer";

const nothing = new Uint8Array(0);

export class GatheredBytes {
  /** The first piece as it came, or all pieces with room for more: it doubles, so that each byte is copied about twice. */
  #bytes: Uint8Array = nothing;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** @param piece must not change afterwards */
  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (this.#length === 0) this.#bytes = piece;
    else {
      if (length > this.#bytes.length) this.#grow(length);
      this.#bytes.set(piece, this.#length);
    }
    this.#length = length;
  }

  /** Returns all bytes and releases them. */
  take(): Uint8Array {
    const bytes = this.#bytes.length === this.#length ? this.#bytes : this.#bytes.subarray(0, this.#length);
    this.#bytes = nothing;
    this.#length = 0;
    return bytes;
  }

  #grow(length: number): void {
    const roomier = Buffer.allocUnsafe(Math.max(length, 2 * this.#length));
    roomier.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = roomier;
  }
}
