/**
 * The keys of SECRETS_KEY: the first one seals, all of them open. They seal data keys, and notes that the service gives to a browser and
 * gets back: no one else can read or change a note, it expires, and a note of one kind does not pass as another.
 */
import { Type, type Static, type TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
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

/** A kind of note. */
export interface NoteKind<Content extends TSchema> {
  about: string;
  content: Content;
  ageMsMax: number;
}

const Dated = Type.Object({ at: Type.Number(), content: Type.Unknown() });

/** @returns text that needs no escaping in a cookie */
export function sealNote<Content extends TSchema>(
  { about }: NoteKind<Content>,
  content: Static<Content>,
  { keyring, nowMs }: { keyring: Keyring; nowMs: number },
): string {
  const plain = Buffer.from(JSON.stringify({ at: nowMs, content }));
  return Buffer.from(keyring.first.seal(plain, about)).toString("base64url");
}

/** @returns null for a note that is too old, was changed, is of another kind, or was not made by this service */
export function openNote<Content extends TSchema>(
  { about, content: schema, ageMsMax }: NoteKind<Content>,
  text: string | null,
  { keyring, nowMs }: { keyring: Keyring; nowMs: number },
): Static<Content> | null {
  if (text === null) return null;
  try {
    const note: unknown = JSON.parse(Buffer.from(keyring.open(Buffer.from(text, "base64url"), about)).toString());
    if (!Value.Check(Dated, note) || nowMs - note.at >= ageMsMax) return null;
    return Value.Check(schema, note.content) ? note.content : null;
  } catch (error) {
    if (error instanceof SealError) return null;
    throw error;
  }
}
