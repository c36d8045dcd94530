/**
 * A statement of a VEX document in the words that all formats share, and how its parts are read: ids of vulnerabilities, times, and what it
 * is about. A package URL names a package; the package URL of the SBOM's own root means the whole product. A BOM-Link
 * (https://cyclonedx.org/capabilities/bomlink/) or a bom-ref is resolved with the project's SBOM, which only the import has.
 */
import { DomainError } from "../../../accounts/errors.ts";
import type { JsonObject } from "../../../http/json.ts";
import { readIdentifier } from "../../advisories/advisory.ts";
import { packageIdentity, packageNameOf, type Ecosystem } from "../../versions/ecosystem.ts";
import { parsePackageUrl, PackageUrlError } from "../../versions/package-url.ts";
import { vexAliasesMax } from "../limits.ts";
import type { Decided } from "./words.ts";

/** A vulnerability in a component, and the decision about it. */
export interface VexStatement {
  /** The vulnerability's id and other ids of it, in upper case. Statements of one vulnerability share the list. */
  ids: readonly [string, ...string[]];
  /** The component as the document writes it; null: all components. */
  ref: string | null;
  about: About;
  /** When it was made, in milliseconds. Of two statements about a component the later one counts. */
  at: number;
  decided: Decided;
}

export type About =
  /** Every component that has the vulnerability. */
  | { kind: "product"; product: NamedPackage | null; versions: readonly VersionRule[] }
  /** `within` is the product of which the package is a part, if the document names it. */
  | { kind: "package"; package: NamedPackage; versions: readonly VersionRule[]; within: NamedPackage | null }
  | SbomReference
  | { kind: "nothing" };

/** A component of a CycloneDX SBOM. */
interface SbomReference {
  kind: "reference";
  /** Its bom-ref; null: the whole SBOM. */
  bomRef: string | null;
  /** The SBOM's serial number without `urn:uuid:`, in lower case; null: the document does not say which SBOM it is. */
  serial: string | null;
  versions: readonly VersionRule[];
  /** What it is about if the SBOM has no such component. */
  otherwise: About;
}

export interface NamedPackage {
  /** The same for all spellings of its name. */
  identity: string;
  /** null: none whose versions can be compared. */
  ecosystem: Ecosystem | null;
  /** null: any. */
  version: string | null;
}

/** Versions that a statement is about, or that it excludes. Without rules it is about every version that it names. */
export interface VersionRule {
  text: string;
  isRange: boolean;
  reached: boolean;
}

/** Yields null between statements where there may be much to read without one. */
export type StatementReader = (document: JsonObject) => Iterable<VexStatement | null>;

export function refused(at: string, reason: string): DomainError {
  return new DomainError("invalid_body", `${at} ${reason}`);
}

/** @param at the place of the vulnerability's own id @throws DomainError for a text that is none, and too many aliases */
export function idsOf(own: unknown, aliases: readonly unknown[], at: string): VexStatement["ids"] {
  if (aliases.length > vexAliasesMax) throw refused(at, `has more than ${vexAliasesMax} other ids`);
  const read = (id: unknown) => (typeof id === "string" ? (readIdentifier(id) ?? []) : []);
  const [first, ...others] = new Set([own, ...aliases].flatMap(read));
  if (first === undefined) throw refused(at, "must be the id of a vulnerability");
  return [first, ...others];
}

/** The first of these that is a time, in milliseconds; 0: none is. */
export function timeOf(...given: unknown[]): number {
  for (const text of given) {
    const at = typeof text === "string" && text.length <= 40 ? Date.parse(text) : NaN;
    if (!Number.isNaN(at)) return at;
  }
  return 0;
}

export function listAt(object: JsonObject, field: string, at: string): unknown[] {
  const value = object[field] ?? [];
  if (!Array.isArray(value)) throw refused(at === "" ? field : `${at}.${field}`, "must be a list");
  return value;
}

/** @returns null for a text that is no package URL */
export function packageOf(purl: unknown): NamedPackage | null {
  if (typeof purl !== "string") return null;
  try {
    const parsed = parsePackageUrl(purl);
    const name = packageNameOf(parsed);
    const { type, namespace, version } = parsed;
    const identity = name === null ? `pkg:${type}/${namespace ?? ""}/${parsed.name}` : packageIdentity(name);
    return { identity, ecosystem: name?.ecosystem ?? null, version };
  } catch (error) {
    if (error instanceof PackageUrlError) return null;
    throw error;
  }
}

/** A product without a package URL, by its name. */
export function productNamed(name: unknown, version: unknown): NamedPackage | null {
  if (typeof name !== "string" || name === "") return null;
  const identity = `${byName}${name.toLowerCase()}`;
  return { identity, ecosystem: null, version: typeof version === "string" && version !== "" ? version : null };
}

export function isByName({ identity }: NamedPackage): boolean {
  return identity.startsWith(byName);
}

const byName = "product ";

/** A serial number without `urn:uuid:`, in lower case; null: there is none. */
export function serialOf(text: unknown): string | null {
  return typeof text === "string" ? text.toLowerCase().replace(/^urn:uuid:/, "") : null;
}

/** @param serial in lower case; null: the text is no BOM-Link */
export function bomLinkOf(text: string): { serial: string; bomRef: string | null } | null {
  if (!text.startsWith("urn:cdx:")) return null;
  const hash = text.indexOf("#");
  const [serial = ""] = text.slice("urn:cdx:".length, hash === -1 ? undefined : hash).split("/", 1);
  return { serial: serial.toLowerCase(), bomRef: hash === -1 ? null : decoded(text.slice(hash + 1)) };
}

/** What a text names that may be a package URL, a BOM-Link or a bom-ref. */
export function aboutText(text: string, versions: readonly VersionRule[] = []): About {
  const link = bomLinkOf(text);
  const named = packageOf(link === null ? text : link.bomRef);
  const about: About = named === null ? { kind: "nothing" } : { kind: "package", package: named, versions, within: null };
  if (link === null && named !== null) return about;
  return {
    kind: "reference",
    bomRef: link === null ? text : link.bomRef,
    serial: link?.serial ?? null,
    versions,
    otherwise: about,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
