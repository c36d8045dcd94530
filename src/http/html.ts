/**
 * HTML templates: every inserted value is escaped, except HTML that another template produced. Attribute values need quotes. Templates have
 * no logic, and cannot insert a client's text unescaped.
 */

/** Only `markup` and `trusted` create it, so it is safe to insert. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** null inserts nothing. */
type Part = string | number | Html | readonly Html[] | null;

/** Attribute values need quotes: `<a href="${address}">`. */
export function markup(texts: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(texts.map((text, index) => text + written(parts[index] ?? null)).join(""));
}

/** Marks text as HTML: only for this service's own files, never for the catalog or a request. */
export function trusted(text: string): Html {
  return new Html(text);
}

function written(part: Part): string {
  if (part === null) return "";
  if (part instanceof Html) return String(part);
  if (typeof part === "object") return part.join("");
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
