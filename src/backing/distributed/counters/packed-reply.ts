/** Reads the numbers of a function's reply one after the other. */
const numberBytes = 8;

export class PackedReply {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** @throws RangeError when the reply has ended: a fault of ours */
  number(): number {
    const number = this.#bytes.readDoubleLE(this.#at);
    this.#at += numberBytes;
    return number;
  }

  /** @throws RangeError when it is no whole number, or the reply has ended */
  nano(): bigint {
    return BigInt(this.number());
  }
}
