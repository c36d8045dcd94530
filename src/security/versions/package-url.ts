/**
 * Package URLs: `pkg:type/namespace/name@version?qualifiers#subpath`, read strictly and written canonically. An error names the invalid
 * part and the reason.
 *
 * Written by hand, because existing packages accept invalid URLs and do not say what is wrong with one. Source:
 * https://github.com/package-url/purl-spec/blob/main/docs/specification/standard/specification.md
 */
import { trimmedEnd } from "../../kernel/text.ts";
import { purlCharactersMax } from "../limits.ts";

export interface PackageUrl {
  /** Lower case. */
  type: string;
  /** Segments joined by slashes; the scope of an npm package includes its `@`. */
  namespace: string | null;
  name: string;
  version: string | null;
  qualifiers: ReadonlyMap<string, string>;
  subpath: string | null;
}

/** Parses from right to left, as the specification requires. @throws PackageUrlError naming the invalid part */
export function parsePackageUrl(text: string): PackageUrl {
  if (text.length > purlCharactersMax) throw new PackageUrlError("text", `is longer than ${purlCharactersMax} characters`);
  if (/[^\u0021-\u007e]/.test(text)) throw new PackageUrlError("text", "has a space or a character outside ASCII");
  const [beforeSubpath, subpath] = cut(text, text.lastIndexOf("#"));
  const [beforeQualifiers, qualifiers] = cut(beforeSubpath, beforeSubpath.lastIndexOf("?"));
  const [scheme, afterScheme] = cut(beforeQualifiers, beforeQualifiers.indexOf(":"));
  if (scheme.toLowerCase() !== "pkg" || scheme === beforeQualifiers) throw new PackageUrlError("scheme", 'is not "pkg:"');
  const typeAndPath = afterScheme.replace(/^\/+/, "");
  const [type, path] = cut(typeAndPath, typeAndPath.indexOf("/"));
  if (type === typeAndPath || !/^[A-Za-z][A-Za-z0-9.-]*$/.test(type)) {
    throw new PackageUrlError("type", `is missing or not valid: ${quoted(type)}`);
  }
  const [names, version] = cut(path, versionAt(path));
  return applyTypeRules({
    type: type.toLowerCase(),
    ...namesOf(names),
    version: percentDecoded("version", version) || null,
    qualifiers: qualifiersOf(qualifiers),
    subpath: segmentsOf("subpath", subpath).filter(isNoDot).join("/") || null,
  });
}

/**
 * The canonical form: equal package URLs have equal canonical forms. Go's namespaces and names are lower case in it, whatever the module's
 * spelling: https://github.com/package-url/purl-spec/blob/main/types/golang-definition.json
 */
export function printPackageUrl({ type, namespace, name, version, qualifiers, subpath }: PackageUrl): string {
  const names = [...(namespace?.split("/") ?? []), name];
  const path = names.map((segment) => percentEncoded(type === "golang" ? segment.toLowerCase() : segment)).join("/");
  const pairs = [...qualifiers].filter(([, value]) => value !== "").map(([key, value]) => `${key}=${percentEncoded(value)}`);
  return [
    `pkg:${type}/${path}`,
    version === null ? "" : `@${percentEncoded(version)}`,
    pairs.length === 0 ? "" : `?${pairs.toSorted().join("&")}`,
    subpath === null ? "" : `#${subpath.split("/").map(percentEncoded).join("/")}`,
  ].join("");
}

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

/** @returns the parts before and after the character at the position; for -1, everything and nothing */
function cut(text: string, at: number): [string, string] {
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** For messages: shortens a long text. */
function quoted(text: string): string {
  return text.length <= 60 ? `"${text}"` : `"${text.slice(0, 60)}…"`;
}

/** The last `@` begins the version, unless it begins an earlier segment, as an npm scope does. */
function versionAt(path: string): number {
  const at = path.lastIndexOf("@");
  const beginsScope = (at === 0 || path[at - 1] === "/") && path.includes("/", at);
  return beginsScope ? -1 : at;
}

/**
 * From the type definitions, https://github.com/package-url/purl-spec/tree/main/types. Go's says that a namespace is required, but the
 * standard library has none.
 */
const namespaceRules: Record<string, "required" | "prohibited"> = {
  maven: "required",
  pypi: "prohibited",
  cargo: "prohibited",
  gem: "prohibited",
  nuget: "prohibited",
};

/** Applies the type's rules. PyPI's canonical names are lower case with hyphens. */
function applyTypeRules(url: PackageUrl): PackageUrl {
  if (url.name === "") throw new PackageUrlError("name", "is missing");
  const rule = namespaceRules[url.type];
  if (rule === "required" && url.namespace === null) throw new PackageUrlError("namespace", `is missing, "${url.type}" has one`);
  if (rule === "prohibited" && url.namespace !== null) {
    throw new PackageUrlError("namespace", `is ${quoted(url.namespace)}, but "${url.type}" has none`);
  }
  return url.type === "pypi" ? { ...url, name: url.name.toLowerCase().replaceAll("_", "-") } : url;
}

function namesOf(text: string): Pick<PackageUrl, "namespace" | "name"> {
  const names = trimmedEnd(text, "/");
  const nameAt = names.lastIndexOf("/") + 1;
  const name = percentDecoded("name", names.slice(nameAt));
  return { namespace: segmentsOf("namespace", names.slice(0, nameAt)).join("/") || null, name };
}

/** @throws PackageUrlError for an invalid escape, or bytes that are not UTF-8 */
function percentDecoded(part: PackageUrlPart, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new PackageUrlError(part, `has a broken percent-encoding: ${quoted(text)}`);
  }
}

/** Empty segments are dropped. @throws PackageUrlError if a segment contains a slash, as it would become two segments when written */
function segmentsOf(part: "namespace" | "subpath", text: string): string[] {
  const segments = text.split("/").filter((segment) => segment !== "");
  return segments.map((segment) => {
    const decoded = percentDecoded(part, segment);
    if (decoded.includes("/")) throw new PackageUrlError(part, `has an encoded slash: ${quoted(segment)}`);
    return decoded;
  });
}

/** Keys in lower case; a key without a value is dropped. @throws PackageUrlError */
function qualifiersOf(text: string): Map<string, string> {
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

function isNoDot(segment: string): boolean {
  return segment !== "." && segment !== "..";
}

/** Encodes all characters except letters, digits, `.-_~` and the colon, in every part. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replaceAll("%3A", ":")
    .replaceAll(/[!*'()]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
