/**
 * AES-256-GCM over bytes, bound to their subject. A sealed blob is: version (1 byte), id of its key (8), nonce (12),
 * ciphertext, tag (16). It names its key, so that keys can be rotated while old blobs are in use.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";

/** The blob was changed, has another subject, or was sealed with another key. The message reveals no content. */
export class SealError extends Error {
  override name = "SealError";
}

const cipher = "aes-256-gcm";
const version = 1;
const keyBytes = 32;
const idBytes = 8;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + idBytes + nonceBytes;

/** A key that seals and opens; only `reveal` gives its bytes. */
export class SealKey {
  /** 16 hex digits of a digest, which only distinguish keys. */
  readonly id: string;
  readonly #bytes: Buffer;

  constructor(bytes: Uint8Array) {
    if (bytes.length !== keyBytes) throw new RangeError(`A key of ${keyBytes} bytes is needed, not of ${bytes.length}`);
    this.#bytes = Buffer.from(bytes);
    this.id = createHash("sha256")
      .update("weir key id")
      .update(bytes)
      .digest("hex")
      .slice(0, 2 * idBytes);
  }

  static random(): SealKey {
    return new SealKey(randomBytes(keyBytes));
  }

  /** For sealing it with another key. */
  reveal(): Uint8Array {
    return this.#bytes;
  }

  /** @param about the subject of the bytes: they open only for the same one */
  seal(plain: Uint8Array, about: string): Uint8Array {
    const nonce = randomBytes(nonceBytes);
    const sealing = createCipheriv(cipher, this.#keyFor(about), nonce, { authTagLength: tagBytes });
    sealing.setAAD(Buffer.from(about));
    const head = Buffer.concat([Buffer.of(version), Buffer.from(this.id, "hex"), nonce]);
    return Buffer.concat([head, sealing.update(plain), sealing.final(), sealing.getAuthTag()]);
  }

  /** @throws SealError */
  open(blob: Uint8Array, about: string): Uint8Array {
    if (sealedBy(blob) !== this.id) throw new SealError("The bytes were sealed with another key");
    const nonce = blob.subarray(headBytes - nonceBytes, headBytes);
    const opening = createDecipheriv(cipher, this.#keyFor(about), nonce, { authTagLength: tagBytes });
    opening.setAAD(Buffer.from(about));
    opening.setAuthTag(blob.subarray(-tagBytes));
    try {
      return Buffer.concat([opening.update(blob.subarray(headBytes, -tagBytes)), opening.final()]);
    } catch {
      throw new SealError("The sealed bytes were changed, or belong to something else");
    }
  }

  /** Derives a key for each subject: random nonces may repeat after some 2^32 seals under one key, which no subject reaches. */
  #keyFor(about: string): Buffer {
    return createHmac("sha256", this.#bytes).update(about).digest();
  }

  toString(): string {
    return `[key ${this.id}]`;
  }

  toJSON(): string {
    return this.toString();
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

/** The id of the key that sealed the blob. @throws SealError for other bytes */
export function sealedBy(blob: Uint8Array): string {
  if (blob.length < headBytes + tagBytes || blob[0] !== version) throw new SealError("The bytes are not sealed");
  return Buffer.from(blob.subarray(1, 1 + idBytes)).toString("hex");
}
