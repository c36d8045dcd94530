/**
 * The keys of the objects that are open at a position of a JSON text. It keeps hashes and compares bytes only if two hashes are
 * equal. A large object keeps its keys as texts in a set, so that no choice of keys makes this slow.
 */
import { backslash } from "../../../http/json-bytes.ts";
import { sbomKeyBytesMax } from "../../limits.ts";
import { SbomRefusal } from "../refusal.ts";

const smallMax = 32;
const decoder = new TextDecoder();
const encoder = new TextEncoder();

interface Level {
  count: number;
  hashes: Int32Array;
  starts: Int32Array;
  ends: Int32Array;
  large: Set<string> | null;
}

export class ObjectKeys {
  readonly #bytes: Uint8Array;
  readonly #fieldsMax: number;
  readonly #levels: Level[] = [];

  /** @param fieldsMax of one object */
  constructor(bytes: Uint8Array, fieldsMax: number) {
    this.#bytes = bytes;
    this.#fieldsMax = fieldsMax;
  }

  /** An object begins at this depth; the keys of the previous object at this depth are dropped. */
  open(depth: number): void {
    const level = this.#level(depth);
    level.count = 0;
    level.large = null;
  }

  /**
   * @param start position of the opening quote
   * @param end position of the closing quote
   * @throws SbomRefusal malformed if the object already has the key, or if it is `__proto__`; too_large
   */
  add(depth: number, start: number, end: number): void {
    if (end - start > sbomKeyBytesMax)
      throw new SbomRefusal("too_large", `The document has a key longer than ${sbomKeyBytesMax} bytes`);
    const level = this.#level(depth);
    if (level.count >= this.#fieldsMax)
      throw new SbomRefusal("too_large", `The document has an object of more than ${this.#fieldsMax} fields`);
    const hash = this.#hash(start + 1, end);
    if (hash === protoHash && this.#text(start, end) === "__proto__") throw protoRefused();
    if (level.large !== null) addToLarge(level.large, this.#text(start, end));
    else this.#addToSmall({ level, hash, start, end });
    level.count++;
  }

  #addToSmall({ level, hash, start, end }: { level: Level; hash: number; start: number; end: number }): void {
    for (let index = 0; index < level.count; index++) {
      if (level.hashes[index] !== hash) continue;
      const text = this.#text(start, end);
      if (this.#text(level.starts[index] ?? 0, level.ends[index] ?? 0) === text) throw twice(text);
    }
    level.hashes[level.count] = hash;
    level.starts[level.count] = start;
    level.ends[level.count] = end;
    if (level.count + 1 < smallMax) return;
    const texts = Array.from(level.starts, (from, index) => this.#text(from, level.ends[index] ?? from));
    level.large = new Set(texts);
  }

  #level(depth: number): Level {
    const ints = () => new Int32Array(smallMax);
    return (this.#levels[depth] ??= { count: 0, hashes: ints(), starts: ints(), ends: ints(), large: null });
  }

  /** The same key may be written with escapes, so these are decoded before hashing. */
  #hash(start: number, end: number): number {
    const bytes = this.#bytes.subarray(start, end);
    return hashOf(bytes.includes(backslash) ? encoder.encode(this.#text(start - 1, end)) : bytes);
  }

  /** An invalid text is compared as written; the parser refuses it later. */
  #text(start: number, end: number): string {
    const written = decoder.decode(this.#bytes.subarray(start, end + 1));
    try {
      return String(JSON.parse(written));
    } catch {
      return written;
    }
  }
}

/** FNV-1a with 32 bits. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash | 0;
}

const protoHash = hashOf(encoder.encode("__proto__"));

function addToLarge(keys: Set<string>, text: string): void {
  if (keys.has(text)) throw twice(text);
  keys.add(text);
}

function twice(key: string): SbomRefusal {
  const shown = key.length > 100 ? `${key.slice(0, 100)}…` : key;
  return new SbomRefusal("malformed", `The document has the key ${JSON.stringify(shown)} twice in one object; keep one of them`);
}

function protoRefused(): SbomRefusal {
  return new SbomRefusal(
    "malformed",
    'The document has an object with the key "__proto__", which no format of SBOM knows; remove it',
  );
}
