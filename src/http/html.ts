/** HTML as a template: whatever is put into one is escaped, but HTML that came out of one. */

/** Made by `markup` and `trusted` alone, hence safe to stand in a page as it is. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** null is nothing at all. */
type Part = string | number | Html | readonly Html[] | null;

/** Attribute values stand in quotes: `<a href="${address}">`. */
export function markup(texts: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(texts.map((text, index) => text + written(parts[index] ?? null)).join(""));
}

/** For text that is HTML already: of this service's own files, never of the catalog or a request. */
export function trusted(text: string): Html {
  return new Html(text);
}

function written(part: Part): string {
  if (part === null) return "";
  if (part instanceof Html) return String(part);
  if (typeof part === "object") return part.join("");
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
