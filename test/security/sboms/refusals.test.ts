/** "An SBOM of the wrong kind …: 400 with a sentence that says what to change": other files, and unsupported SBOMs. */
import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { bomJson, bomXml, bytesOf, refusalOf, spdx3Json, spdxJson, spdxTagValue } from "../../support/security/sbom-documents.ts";

const latin1 = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
const tar = new Uint8Array(1_024);
tar.set(bytesOf("bom.json"), 0);
tar.set(bytesOf("ustar"), 257);

const refused: [string, unknown, string, string][] = [
  ["nothing", new Uint8Array(), "empty", "is empty"],
  ["blanks", " \r\n\t ", "empty", "is empty"],
  ["a page of HTML", "<!DOCTYPE html><html><body>Sign in</body></html>", "not_an_sbom", "an HTML page"],
  ["a gzip archive", new Uint8Array(gzipSync(bytesOf(bomJson("1.6")))), "not_an_sbom", "gzip archive; unpack it"],
  ["a zip archive", new Uint8Array([0x50, 0x4b, 3, 4, 0, 0]), "not_an_sbom", "zip archive; unpack it"],
  ["a tar archive", tar, "not_an_sbom", "tar archive; unpack it"],
  ["a program", new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]), "not_an_sbom", "a program"],
  ["plain text", "hello", "not_an_sbom", "text of an unknown kind"],
  ["SPDX in YAML", "spdxVersion: SPDX-2.3\nname: x\n", "not_an_sbom", "YAML; export it as JSON or tag-value"],
  ["SPDX in RDF", '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>', "not_an_sbom", "RDF/XML"],
  ["other XML", "<project/>", "not_an_sbom", "pom.xml"],
  ["XML of no namespace", "<bom/>", "not_an_sbom", "not in a namespace of CycloneDX"],
  ["a JSON list", [], "not_an_sbom", "a JSON list"],
  ["a JSON object", {}, "not_an_sbom", "neither `bomFormat`, `spdxVersion`"],
  ["another bomFormat", { bomFormat: "Other" }, "not_an_sbom", '"Other" and not "CycloneDX"'],
  ["Syft's own format", { artifacts: [], descriptor: {} }, "not_an_sbom", "syft with -o cyclonedx-json"],
  ["a report of Trivy", { SchemaVersion: 2, ArtifactName: "x" }, "not_an_sbom", "trivy with --format cyclonedx"],
  ["an npm lock file", { name: "x", lockfileVersion: 3 }, "not_an_sbom", "an npm lock file"],
  ["an SBOM beside other fields", { sbom: spdxJson("2.3"), id: 1 }, "not_an_sbom", "upload what that field holds"],
  ["an OSV advisory", { id: "GHSA-x", affected: [] }, "not_an_sbom", "an OSV advisory"],
  ["CycloneDX 1.1", bomXml("1.1"), "unsupported_version", '"1.1"; versions 1.2 to 1.7 are read'],
  ["CycloneDX 1.8", bomJson("1.8"), "unsupported_version", "1.2 to 1.7 are read"],
  ["CycloneDX without a version", { bomFormat: "CycloneDX" }, "unsupported_version", "without a version"],
  ["SPDX 2.1", { ...spdxJson("2.3"), spdxVersion: "SPDX-2.1" }, "unsupported_version", "2.2, 2.3 and 3.0 are read"],
  ["SPDX 2.0 in tag-value", spdxTagValue("2.3").replace("SPDX-2.3", "SPDX-2.0"), "unsupported_version", "SPDX-2.0"],
  ["SPDX 4", { ...spdx3Json(), "@context": "https://spdx.org/rdf/4.0.0/spdx-context.jsonld" }, "unsupported_version", '"4.0"'],
  ["half of a JSON document", JSON.stringify(bomJson("1.6")).slice(0, 500), "truncated", "upload the whole file"],
  ["JSON that ends in a text", '{"bomFormat":"Cyc', "truncated", "upload the whole file"],
  ["half of an XML document", bomXml("1.6").slice(0, 900), "truncated", "upload the whole file"],
  ["a tag-value text that does not end", "SPDXVersion: SPDX-2.3\nDocumentComment: <text>abc", "truncated", "line 2"],
  ["JSON with a comma too many", '{"bomFormat":"CycloneDX",}', "malformed", "not valid JSON"],
  ["JSON followed by more", "{} {}", "malformed", "not valid JSON"],
  ["XML that closes another element", `${bomXml("1.6").slice(0, -6)}</bam>`, "malformed", "not well-formed XML: line and column"],
  ["XML with two roots", `${bomXml("1.6")}<bom/>`, "malformed", "one root"],
  ["a tag-value line without a tag", "SPDXVersion: SPDX-2.3\nno tag here\n", "malformed", "line 2"],
  ["Latin-1", latin1(JSON.stringify({ ...bomJson("1.6"), x: "é" })), "wrong_encoding", "not valid UTF-8; save it as UTF-8"],
  ["XML that says EBCDIC", bomXml("1.6").replace("UTF-8", "IBM037"), "wrong_encoding", "IBM037"],
  ["half a character of UTF-16", new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x20]), "wrong_encoding", "not valid UTF-16"],
];

describe("is refused with a sentence", () => {
  test.each(refused)("%s", (_, document, code, sentence) => {
    const refusal = refusalOf(document);
    expect(refusal.message).toContain(sentence);
    expect(refusal.message).not.toMatch(/\.$/);
    expect(String(refusal.code)).toBe(code);
  });
});
