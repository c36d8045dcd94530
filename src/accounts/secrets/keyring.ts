/** The keys of SECRETS_KEY: the first one seals, all of them open. */
import { SealError, SealKey, sealedBy } from "../../kernel/seal-key.ts";
import type { Secret } from "../../kernel/secret.ts";

export class Keyring {
  /** Seals new values. */
  readonly first: SealKey;
  readonly #keys: ReadonlyMap<string, SealKey>;

  /** @param secrets base64 keys of 32 bytes, at least one */
  constructor(secrets: readonly Secret[]) {
    const keys = secrets.map((secret) => new SealKey(Buffer.from(secret.reveal(), "base64")));
    const [first] = keys;
    if (!first) throw new RangeError("A keyring needs a key");
    this.first = first;
    this.#keys = new Map(keys.map((key) => [key.id, key]));
  }

  /** @throws SealError with the missing key, or for changed bytes */
  open(blob: Uint8Array, about: string): Uint8Array {
    const id = sealedBy(blob);
    const key = this.#keys.get(id);
    if (!key) throw new SealError(`The key ${id} is needed and not among those of SECRETS_KEY`);
    return key.open(blob, about);
  }
}
