/**
 * Reads bytes as a document, or refuses them: encoding, format, rules, parsed form, normalized form. The result depends only on the bytes
 * and consists of plain values, so a subprocess can do it: 50 MiB would block the thread for seconds.
 *
 * If the bytes are something else that people upload as an SBOM, such as an archive, a lock file or a scanner's report, the refusal names
 * it and the remedy. XML may be in UTF-16 with a byte order mark, or in an encoding that it declares (XML 1.0 4.3.3); JSON and tag-value have
 * to be UTF-8 (RFC 8259 8.1), but what Windows PowerShell writes is taken too, with a warning.
 */
import { sbomBytesMax } from "../limits.ts";
import { type SbomDocument, type ParsedSbom, cyclonedxMinor, spdx2Minor } from "./document.ts";
import { bom } from "./formats/cyclonedx-shape.ts";
import { readXmlBom } from "./formats/cyclonedx-xml.ts";
import { extractCycloneDx } from "./formats/cyclonedx.ts";
import { extractSpdx2, spdx2 } from "./formats/spdx-2.ts";
import { extractSpdx3, graphOf, spdx3 } from "./formats/spdx-3.ts";
import { lineLocation, readTagValue } from "./formats/spdx-tag-value.ts";
import { parseJson, isObject, type JsonObject, type JsonValue, fieldOf } from "./json.ts";
import { normalizeSbom } from "./normalize.ts";
import { invalidSbom, SbomRefusal, SbomWarnings } from "./refusal.ts";
import { validate, type Path, jsonLocation, xmlLocation, type ObjectShape } from "./shape.ts";

/** @throws SbomRefusal with a sentence that says what to change */
export function readSbom(bytes: Uint8Array): SbomDocument {
  if (bytes.length > sbomBytesMax)
    throw new SbomRefusal("too_large", `The document is larger than ${sbomBytesMax / 1024 / 1024} MiB`);
  const binary = recognizeBinary(bytes);
  if (binary !== null) throw notAnSbom(binary);
  const warnings = new SbomWarnings();
  return normalizeSbom(parseSbom(bytes, warnings), { bytes, warnings });
}

interface Magic {
  bytes: number[];
  at?: number;
  is: string;
}

const magics: Magic[] = [
  { bytes: [0x1f, 0x8b], is: "a gzip archive; unpack it and upload the SBOM in it" },
  { bytes: [0x50, 0x4b, 0x03, 0x04], is: "a zip archive; unpack it and upload the SBOM in it" },
  { bytes: [0x50, 0x4b, 0x05, 0x06], is: "an empty zip archive" },
  { bytes: [0x42, 0x5a, 0x68], is: "a bzip2 archive; unpack it and upload the SBOM in it" },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], is: "a zstd archive; unpack it and upload the SBOM in it" },
  { bytes: [0xfd, 0x37, 0x7a, 0x58, 0x5a], is: "an xz archive; unpack it and upload the SBOM in it" },
  { bytes: [0x75, 0x73, 0x74, 0x61, 0x72], at: 257, is: "a tar archive; unpack it and upload the SBOM in it" },
  { bytes: [0x25, 0x50, 0x44, 0x46], is: "a PDF file" },
  { bytes: [0x7f, 0x45, 0x4c, 0x46], is: "a program (ELF)" },
  { bytes: [0x89, 0x50, 0x4e, 0x47], is: "an image (PNG)" },
];

/** @returns the kind of the file in words; null if it is unknown */
function recognizeBinary(bytes: Uint8Array): string | null {
  const found = magics.find(({ bytes: magic, at = 0 }) => magic.every((byte, index) => bytes[at + index] === byte));
  return found?.is ?? null;
}

function notAnSbom(is: string): SbomRefusal {
  return new SbomRefusal("not_an_sbom", `The document is not an SBOM that can be read, but ${is}`);
}

function parseSbom(bytes: Uint8Array, warnings: SbomWarnings): ParsedSbom {
  const { text, utf8 } = decodeSbom(bytes, warnings);
  const [first] = /\S/.exec(text) ?? [];
  if (first === undefined) throw new SbomRefusal("empty", "The document is empty");
  if (first === "<") return parseXmlSbom(text, warnings);
  if (first === "{" || first === "[") return parseJsonSbom(parseJson(utf8 ?? new TextEncoder().encode(text), text), warnings);
  return parseTagValueSbom(text, warnings);
}

const xmlEncoding = /^\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']/;
/** What Java's and .NET's writers declare besides UTF-8. WHATWG's names: both are read as windows-1252. */
const singleByte = /^(?:iso-?8859-1|latin-?1|windows-1252|cp1252)$/i;

interface Decoded {
  text: string;
  /** The bytes of the text in UTF-8; null: the document is in another encoding. */
  utf8: Uint8Array | null;
}

/** @throws SbomRefusal wrong_encoding */
function decodeSbom(bytes: Uint8Array, warnings: SbomWarnings): Decoded {
  const utf16 = utf16Of(bytes);
  if (utf16 !== null) return { text: decodedUtf16(bytes, utf16, warnings), utf8: null };
  const body = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
  const declared = xmlEncoding.exec(new TextDecoder("latin1").decode(body.subarray(0, 300)))?.[1];
  if (declared !== undefined && singleByte.test(declared) && body === bytes)
    return { text: new TextDecoder("windows-1252").decode(body), utf8: null };
  if (declared !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(declared)) {
    throw new SbomRefusal(
      "wrong_encoding",
      `The document says that it is encoded in ${declared}; save it as UTF-8 and say so in its first line`,
    );
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body), utf8: bytes };
  } catch {
    throw new SbomRefusal("wrong_encoding", "The document is not valid UTF-8; save it as UTF-8");
  }
}

/** Detected by the byte order mark, or by a zero in every second byte. */
export function utf16Of(bytes: Uint8Array): "utf-16le" | "utf-16be" | null {
  const [first = 1, second = 1] = bytes;
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return "utf-16le";
  return (first === 0xfe && second === 0xff) || (first === 0 && second !== 0) ? "utf-16be" : null;
}

function decodedUtf16(bytes: Uint8Array, encoding: "utf-16le" | "utf-16be", warnings: SbomWarnings): string {
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new SbomRefusal("wrong_encoding", "The document is not valid UTF-16; save it as UTF-8");
  }
  const marked = bytes[0] === 0xff || bytes[0] === 0xfe;
  const isXml = /^\s*</.test(text);
  const declared = xmlEncoding.exec(text)?.[1];
  const says = !isXml
    ? "is encoded in UTF-16, and has to be UTF-8"
    : declared !== undefined && !/^utf-?16(?:[lb]e)?$/i.test(declared)
      ? `is encoded in UTF-16, and says that it is in ${declared}`
      : marked
        ? null
        : "is encoded in UTF-16 without a byte order mark";
  if (says !== null) warnings.add({ place: wholeDocument, says });
  return text;
}

function wholeDocument(): string {
  return "document";
}

function parseXmlSbom(text: string, warnings: SbomWarnings): ParsedSbom {
  if (/^\s*<(?:!doctype\s+html|html[\s>])/i.test(text)) throw notAnSbom(recognizeXml("html"));
  const { specVersion, rootName, value } = readXmlBom(text, bom);
  if (specVersion === null)
    throw notAnSbom(rootName === "bom" ? "XML whose <bom> is not in a namespace of CycloneDX" : recognizeXml(rootName));
  const version = cyclonedxMinor(specVersion);
  const document: JsonObject = { ...value, bomFormat: "CycloneDX", specVersion };
  if (!Object.hasOwn(document, "version")) document["version"] = 1;
  check({ document, shape: bom, version, encoding: "xml", place: (path) => xmlLocation(path, bom), warnings });
  return extractCycloneDx(document, "xml");
}

const xmlKinds: Record<string, string> = {
  html: "an HTML page; download the SBOM itself (a page for signing in is often saved in its place)",
  "rdf:RDF": "an SPDX document in RDF/XML; export it as JSON or tag-value",
  Document: "an SPDX document in XML; export it as JSON or tag-value",
  SoftwareIdentity: "a SWID tag; make a CycloneDX or SPDX document",
  project: "a Maven pom.xml; make an SBOM of it, or import the repository",
};

/** @param rootName as written, with its prefix */
function recognizeXml(rootName: string): string {
  const known = Object.hasOwn(xmlKinds, rootName) ? xmlKinds[rootName] : undefined;
  return known ?? `XML whose root element is <${rootName.slice(0, 100)}>`;
}

interface Check {
  document: JsonObject;
  shape: ObjectShape;
  version: number;
  encoding: "json" | "xml" | "tag-value";
  place: (path: Path) => string;
  warnings: SbomWarnings;
}

/** Puts right in place what is tolerated. @throws SbomRefusal invalid */
function check({ document, place, warnings, ...rules }: Check): void {
  const warn = (path: Path, says: string) =>
    warnings.add({ place: () => place(path), says, kind: `${String(path.at(-1))} ${says}` });
  const faults = validate({ value: document, warn, ...rules });
  if (faults.length > 0) throw invalidSbom(faults.map(({ path, says }) => ({ path: place(path), says })));
}

function parseJsonSbom(given: JsonValue, warnings: SbomWarnings): ParsedSbom {
  const value = unwrapped(given, warnings);
  if (!isObject(value)) throw notAnSbom(recognizeJson(value));
  const inJson = { encoding: "json", place: jsonLocation, warnings } as const;
  if (value["bomFormat"] === "CycloneDX") {
    check({ document: value, shape: bom, version: cyclonedxMinor(value["specVersion"]), ...inJson });
    return extractCycloneDx(value, "json");
  }
  if (Object.hasOwn(value, "spdxVersion")) {
    check({ document: value, shape: spdx2, version: spdx2Minor(value["spdxVersion"]), ...inJson });
    return extractSpdx2(value, "json");
  }
  const graph = graphOf(value);
  if (graph === null) throw notAnSbom(recognizeJson(value));
  check({ document: graph, shape: spdx3, version: 0, ...inJson });
  return extractSpdx3(graph);
}

/** GitHub's API answers with the document in the field `sbom`. */
function unwrapped(value: JsonValue, warnings: SbomWarnings): JsonValue {
  if (!isObject(value) || Object.keys(value).length !== 1) return value;
  const within = value["sbom"];
  if (!isObject(within)) return value;
  warnings.add({ place: wholeDocument, says: "is an object whose field `sbom` holds the SBOM, which is read" });
  return within;
}

/** JSON documents, recognized by fields that only they have. */
const jsonKinds: { fields: string[]; is: string }[] = [
  { fields: ["sbom"], is: "an object with a field `sbom`; upload what that field holds" },
  { fields: ["artifacts", "descriptor"], is: "Syft's own format; run syft with -o cyclonedx-json or -o spdx-json" },
  {
    fields: ["manifests", "detector"],
    is: "a dependency snapshot for GitHub; run syft with -o cyclonedx-json or -o spdx-json, and trivy with --format cyclonedx",
  },
  { fields: ["SchemaVersion", "ArtifactName"], is: "a report of Trivy; run trivy with --format cyclonedx or --format spdx-json" },
  { fields: ["matches", "descriptor"], is: "a report of Grype; upload the SBOM that was scanned" },
  { fields: ["runs", "version"], is: "a SARIF report, which lists results but no components" },
  { fields: ["document", "vulnerabilities"], is: "a CSAF advisory; it is not an SBOM" },
  { fields: ["statements", "author"], is: "an OpenVEX document, which lists statements but no components" },
  { fields: ["payloadType", "payload"], is: "a signed envelope (DSSE); upload the SBOM within it" },
  { fields: ["predicateType", "predicate"], is: "an in-toto attestation; upload the field `predicate` alone" },
  { fields: ["lockfileVersion"], is: "an npm lock file; make an SBOM of it (npm sbom), or import the repository" },
  { fields: ["affected", "id"], is: "an OSV advisory; it is not an SBOM" },
  {
    fields: ["name", "dependencies"],
    is: "a package.json or a list of npm; make an SBOM of it (npm sbom), or import the repository",
  },
];

function recognizeJson(value: JsonValue): string {
  if (Array.isArray(value)) return "a JSON list; an SBOM is one JSON object";
  if (!isObject(value)) return "JSON that is not an object";
  const format = fieldOf(value, "bomFormat");
  if (format !== undefined) return `JSON whose \`bomFormat\` is ${JSON.stringify(format).slice(0, 100)} and not "CycloneDX"`;
  const found = jsonKinds.find(({ fields }) => fields.every((field) => Object.hasOwn(value, field)));
  return found?.is ?? "JSON with neither `bomFormat`, `spdxVersion` nor an SPDX `@context`";
}

function parseTagValueSbom(text: string, warnings: SbomWarnings): ParsedSbom {
  if (!/^[ \t]*SPDXVersion[ \t]*:/m.test(text))
    throw notAnSbom(
      recognizeText(text) ?? "text of an unknown kind; write CycloneDX as JSON or XML, or SPDX as JSON or tag-value",
    );
  const { value, lines } = readTagValue(text);
  check({
    document: value,
    shape: spdx2,
    version: spdx2Minor(value["spdxVersion"]),
    encoding: "tag-value",
    place: (path) => lineLocation(path, { value, lines }),
    warnings,
  });
  return extractSpdx2(value, "tag-value");
}

/** Texts that are neither JSON nor XML. */
const textKinds: { pattern: RegExp; is: string }[] = [
  {
    pattern: /^[ \t]*"?(?:spdxVersion|SPDXID)"?[ \t]*:[ \t]*["']?SPDX/m,
    is: "an SPDX document in YAML; export it as JSON or tag-value",
  },
  { pattern: /^[ \t]*"?bomFormat"?[ \t]*:/m, is: "a CycloneDX document in YAML; export it as JSON or XML" },
  { pattern: /^# yarn lockfile/m, is: "a yarn.lock file; make an SBOM of it, or import the repository" },
  { pattern: /^lockfileVersion:/m, is: "a pnpm-lock.yaml file; make an SBOM of it, or import the repository" },
];

function recognizeText(text: string): string | null {
  const start = text.slice(0, 4_096);
  return textKinds.find(({ pattern }) => pattern.test(start))?.is ?? null;
}
