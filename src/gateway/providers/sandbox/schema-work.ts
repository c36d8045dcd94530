/** How much of a schema and of texts the sandbox may look at: whoever asks chooses both, and one thread serves everybody. */
import type { JsonObject } from "../wire/json.ts";

/** A schema that the sandbox makes no value for. */
export class UnsatisfiableError extends Error {
  override name = "UnsatisfiableError";
  /** The path of the keyword within the schema, such as `.properties.name.pattern`. */
  readonly at: string;
  /** Whether no alternative may be tried: the work is used up. */
  readonly isFinal: boolean;

  constructor(at: string, reason: string, { isFinal = false } = {}) {
    super(reason);
    this.at = at;
    this.isFinal = isFinal;
  }
}

/** Reading so many characters takes as long as looking at one part of a schema. */
const charactersPerStep = 256;

/** The schema, and the steps that are left. What is long to find out is found out once for each value. */
export class SchemaWork {
  /** References name parts of it. */
  readonly root: unknown;
  #steps: number;
  readonly #lengths = new Map<string, number>();
  readonly #entries = new WeakMap<JsonObject, [string, unknown][]>();
  readonly #distinct = new WeakMap<readonly unknown[], boolean>();

  constructor(root: unknown, steps: number) {
    this.root = root;
    this.#steps = steps;
  }

  /** @throws UnsatisfiableError when the work is used up */
  take(steps: number, at = ""): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new UnsatisfiableError(at, "the schema, or the value for it, is too large", { isFinal: true });
  }

  /** @throws UnsatisfiableError when the work is used up */
  read(characters: number, at = ""): void {
    this.take(Math.ceil(characters / charactersPerStep), at);
  }

  /** Characters of a text, of which some are two units of it. @throws UnsatisfiableError when the work is used up */
  charactersOf(text: string): number {
    const known = this.#lengths.get(text);
    if (known !== undefined) return known;
    this.read(text.length);
    let characters = 0;
    for (let at = 0; at < text.length; at += isPair(text, at) ? 2 : 1) characters++;
    this.#lengths.set(text, characters);
    return characters;
  }

  /** @throws UnsatisfiableError when the work is used up */
  entriesOf(object: JsonObject): [string, unknown][] {
    const known = this.#entries.get(object);
    if (known !== undefined) return known;
    const entries = Object.entries(object);
    this.take(entries.length);
    this.#entries.set(object, entries);
    return entries;
  }

  /** Whether all values are different. @throws UnsatisfiableError when the work is used up */
  areDistinct(values: readonly unknown[]): boolean {
    const known = this.#distinct.get(values);
    if (known !== undefined) return known;
    const seen = new Set<string>();
    for (const value of values) {
      const text = JSON.stringify(value);
      this.read(text.length);
      seen.add(text);
    }
    this.#distinct.set(values, seen.size === values.length);
    return seen.size === values.length;
  }
}

/** Whether two units of UTF-16 are one character there. */
function isPair(text: string, at: number): boolean {
  const [first, second] = [text.charCodeAt(at), text.charCodeAt(at + 1)];
  return first >= 0xd8_00 && first <= 0xdb_ff && second >= 0xdc_00 && second <= 0xdf_ff;
}
