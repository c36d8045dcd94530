/** Recognizes other files that people upload as an SBOM, so that the refusal can name them and the remedy. */
import { fieldOf, isObject, type JsonValue } from "./json/value.ts";

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

/** @returns the name of the file's kind, for a sentence; null if it is unknown */
export function recognizeBinary(bytes: Uint8Array): string | null {
  const found = magics.find(({ bytes: magic, at = 0 }) => magic.every((byte, index) => bytes[at + index] === byte));
  return found?.is ?? null;
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

export function recognizeText(text: string): string | null {
  const start = text.slice(0, 4_096);
  return textKinds.find(({ pattern }) => pattern.test(start))?.is ?? null;
}

const xmlKinds: Record<string, string> = {
  html: "an HTML page; download the SBOM itself (a page for signing in is often saved in its place)",
  "rdf:RDF": "an SPDX document in RDF/XML; export it as JSON or tag-value",
  Document: "an SPDX document in XML; export it as JSON or tag-value",
  SoftwareIdentity: "a SWID tag; make a CycloneDX or SPDX document",
  project: "a Maven pom.xml; make an SBOM of it, or import the repository",
};

/** @param rootName as written, with its prefix */
export function recognizeXml(rootName: string): string {
  const known = Object.hasOwn(xmlKinds, rootName) ? xmlKinds[rootName] : undefined;
  return known ?? `XML whose root element is <${rootName.slice(0, 100)}>`;
}

/** JSON documents by fields that only they have. */
const jsonKinds: { fields: string[]; is: string }[] = [
  { fields: ["sbom"], is: "an SBOM within the field `sbom`, as GitHub's API answers; upload what that field holds" },
  { fields: ["artifacts", "descriptor"], is: "Syft's own format; run syft with -o cyclonedx-json or -o spdx-json" },
  { fields: ["SchemaVersion", "ArtifactName"], is: "a report of Trivy; run trivy with --format cyclonedx or --format spdx-json" },
  { fields: ["matches", "descriptor"], is: "a report of Grype; upload the SBOM that was scanned" },
  { fields: ["runs", "version"], is: "a SARIF report, which lists results and no components" },
  { fields: ["document", "vulnerabilities"], is: "a CSAF advisory; it is no SBOM" },
  { fields: ["statements", "author"], is: "an OpenVEX document, which lists statements and no components" },
  { fields: ["payloadType", "payload"], is: "a signed envelope (DSSE); upload the SBOM within it" },
  { fields: ["predicateType", "predicate"], is: "an in-toto attestation; upload the field `predicate` alone" },
  { fields: ["lockfileVersion"], is: "an npm lock file; make an SBOM of it (npm sbom), or import the repository" },
  { fields: ["affected", "id"], is: "an OSV advisory; it is no SBOM" },
  {
    fields: ["name", "dependencies"],
    is: "a package.json or a list of npm; make an SBOM of it (npm sbom), or import the repository",
  },
];

export function recognizeJson(value: JsonValue): string {
  if (Array.isArray(value)) return "a JSON list; an SBOM is one JSON object";
  if (!isObject(value)) return "JSON that is no object";
  const format = fieldOf(value, "bomFormat");
  if (format !== undefined) return `JSON whose \`bomFormat\` is ${JSON.stringify(format).slice(0, 100)} and not "CycloneDX"`;
  const found = jsonKinds.find(({ fields }) => fields.every((field) => Object.hasOwn(value, field)));
  return found?.is ?? "JSON with neither `bomFormat`, `spdxVersion` nor an SPDX `@context`";
}
