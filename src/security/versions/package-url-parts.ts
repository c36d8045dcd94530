/** The pieces of a package URL: how each is decoded and encoded. */

export type PackageUrlPart = "text" | "scheme" | "type" | "namespace" | "name" | "version" | "qualifiers" | "subpath";

/** Its message says which part is wrong and why. */
export class PackageUrlError extends Error {
  readonly part: PackageUrlPart;

  constructor(part: PackageUrlPart, cause: string) {
    super(`The ${part} of the package URL ${cause}`);
    this.name = "PackageUrlError";
    this.part = part;
  }
}

/** @throws PackageUrlError where an escape is broken or its bytes are not UTF-8 */
export function percentDecoded(part: PackageUrlPart, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new PackageUrlError(part, `has a broken percent-encoding: ${quoted(text)}`);
  }
}

/** All but letters, digits, `.-_~` and the colon is encoded, whichever part it stands in. */
export function percentEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replaceAll("%3A", ":")
    .replaceAll(/[!*'()]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Empty segments do not count. @throws PackageUrlError where one holds a slash, which would be read as two when printed */
export function segmentsOf(part: "namespace" | "subpath", text: string): string[] {
  const segments = text.split("/").filter((segment) => segment !== "");
  return segments.map((segment) => {
    const decoded = percentDecoded(part, segment);
    if (decoded.includes("/")) throw new PackageUrlError(part, `has an encoded slash: ${quoted(segment)}`);
    return decoded;
  });
}

/** Keys in lower case; a key without a value is as if it were not there. @throws PackageUrlError */
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

/** For messages: a long text is cut. */
export function quoted(text: string): string {
  return text.length <= 60 ? `"${text}"` : `"${text.slice(0, 60)}…"`;
}
