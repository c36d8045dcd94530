/** Detects SPDX 3, which has no `spdxVersion`, by its `@context`. */
import { fieldOf, type JsonObject, type JsonValue } from "../json/value.ts";
import { unsupportedVersion } from "../supported-versions.ts";

const home = /^https?:\/\/spdx\.(?:org|github\.io)\//;
/** The repetition is bounded: otherwise the expression would try every start within a long run of digits. */
const written = /(\d{1,4})\.(\d{1,4})/;
const contextCharactersMax = 2_048;

/**
 * @returns the document with its elements in `@graph`, which a document of one element omits; null if it is not SPDX 3
 * @throws SbomRefusal unsupported_version
 */
export function graphOf(document: JsonObject): JsonObject | null {
  const version = contextsOf(fieldOf(document, "@context"))
    .map((address) => (home.test(address) && address.length <= contextCharactersMax ? written.exec(address) : null))
    .find((found) => found !== null);
  if (version === undefined || version === null) return null;
  const [, major = "", minor = ""] = version;
  if (major !== "3" || minor !== "0")
    throw unsupportedVersion("SPDX", { written: `${major}.${minor}`, read: "2.2, 2.3 and 3.0" });
  if (Object.hasOwn(document, "@graph")) return document;
  const { "@context": _, ...element } = document;
  return { "@graph": [element] };
}

function contextsOf(value: JsonValue | undefined): string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
