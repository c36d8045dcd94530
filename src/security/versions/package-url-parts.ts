/** Decodes and encodes the parts of a package URL. */

export type PackageUrlPart = "text" | "scheme" | "type" | "namespace" | "name" | "version" | "qualifiers" | "subpath";

/** Its message names the invalid part and the reason. */
export class PackageUrlError extends Error {
  readonly part: PackageUrlPart;

  constructor(part: PackageUrlPart, cause: string) {
    super(`The ${part} of the package URL ${cause}`);
    this.name = "PackageUrlError";
    this.part = part;
  }
}

/** @throws PackageUrlError for an invalid escape, or bytes that are not UTF-8 */
export function percentDecoded(part: PackageUrlPart, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new PackageUrlError(part, `has a broken percent-encoding: ${quoted(text)}`);
  }
}

/** Encodes all characters except letters, digits, `.-_~` and the colon, in every part. */
export function percentEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replaceAll("%3A", ":")
    .replaceAll(/[!*'()]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * Empty segments are dropped. @throws PackageUrlError if a segment contains a slash, which would become two segments when
 * printed
 */
export function segmentsOf(part: "namespace" | "subpath", text: string): string[] {
  const segments = text.split("/").filter((segment) => segment !== "");
  return segments.map((segment) => {
    const decoded = percentDecoded(part, segment);
    if (decoded.includes("/")) throw new PackageUrlError(part, `has an encoded slash: ${quoted(segment)}`);
    return decoded;
  });
}

/** Keys in lower case; a key without a value is dropped. @throws PackageUrlError */
export function qualifiersOf(text: string): Map<string, string> {
  const qualifiers = new Map<string, string>();
  for (const pair of text === "" ? [] : text.split("&")) {
    const equals = pair.indexOf("=");
    const key = pair.slice(0, Math.max(equals, 0)).toLowerCase();
    if (!/^[a-z][a-z0-9._-]*$/.test(key)) throw new PackageUrlError("qualifiers", `have no valid key in ${quoted(pair)}`);
    if (qualifiers.has(key)) throw new PackageUrlError("qualifiers", `have the key ${quoted(key)} twice`);
    qualifiers.set(key, percentDecoded("qualifiers", pair.slice(equals + 1)));
  }
  return new Map([...qualifiers].filter(([, value]) => value !== ""));
}

/** For messages: truncates a long text. */
export function quoted(text: string): string {
  return text.length <= 60 ? `"${text}"` : `"${text.slice(0, 60)}…"`;
}
