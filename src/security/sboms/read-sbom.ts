/**
 * Reads bytes as a document, or refuses them. The result depends only on the bytes and consists of plain values, so a
 * subprocess can do it: 50 MiB block the thread for seconds.
 */
import { sbomBytesMax } from "../limits.ts";
import { bom } from "./cyclonedx/bom-shape.ts";
import { extractCycloneDx } from "./cyclonedx/extract.ts";
import { readXmlBom } from "./cyclonedx/read-xml.ts";
import { decodeSbom } from "./decode.ts";
import type { SbomDocument } from "./document.ts";
import type { ParsedSbom } from "./parsed-sbom.ts";
import { normalizeSbom } from "./normalize.ts";
import { parseJson } from "./json/parse.ts";
import { isObject, type JsonObject, type JsonValue } from "./json/value.ts";
import { invalidSbom, SbomRefusal } from "./refusal.ts";
import { validate, type Path } from "./shape/validate.ts";
import { jsonLocation, xmlLocation } from "./shape/locations.ts";
import type { ObjectShape } from "./shape/shape.ts";
import { extractSpdx2 } from "./spdx/extract-2.ts";
import { extractSpdx3 } from "./spdx/extract-3.ts";
import { graphOf } from "./spdx/graph.ts";
import { lineLocation } from "./spdx/line-location.ts";
import { spdx2 } from "./spdx/shape-2.ts";
import { spdx3 } from "./spdx/shape-3.ts";
import { readTagValue } from "./spdx/tag-value.ts";
import { recognizeBinary, recognizeJson, recognizeText, recognizeXml } from "./recognize-other-file.ts";
import { cyclonedxMinor, spdx2Minor } from "./supported-versions.ts";

/** @throws SbomRefusal with a sentence that says what to change */
export function readSbom(bytes: Uint8Array): SbomDocument {
  if (bytes.length > sbomBytesMax)
    throw new SbomRefusal("too_large", `The document is larger than ${sbomBytesMax / 1024 / 1024} MiB`);
  const binary = recognizeBinary(bytes);
  if (binary !== null) throw notAnSbom(binary);
  return normalizeSbom(parseSbom(bytes), bytes);
}

function parseSbom(bytes: Uint8Array): ParsedSbom {
  const text = decodeSbom(bytes);
  const [first] = /\S/.exec(text) ?? [];
  if (first === undefined) throw new SbomRefusal("empty", "The document is empty");
  if (first === "<") return parseXmlSbom(text);
  if (first === "{" || first === "[") return parseJsonSbom(parseJson(bytes, text));
  return parseTagValueSbom(text);
}

function parseXmlSbom(text: string): ParsedSbom {
  if (/^\s*<(?:!doctype\s+html|html[\s>])/i.test(text)) throw notAnSbom(recognizeXml("html"));
  const { specVersion, rootName, value } = readXmlBom(text, bom);
  if (specVersion === null)
    throw notAnSbom(rootName === "bom" ? "XML whose <bom> is not in a namespace of CycloneDX" : recognizeXml(rootName));
  const version = cyclonedxMinor(specVersion);
  const document: JsonObject = { ...value, bomFormat: "CycloneDX", specVersion };
  if (!Object.hasOwn(document, "version")) document["version"] = 1;
  check({ document, shape: bom, version, place: (path) => xmlLocation(path, bom) });
  return extractCycloneDx(document, "xml");
}

function parseJsonSbom(value: JsonValue): ParsedSbom {
  if (!isObject(value)) throw notAnSbom(recognizeJson(value));
  if (value["bomFormat"] === "CycloneDX") {
    check({ document: value, shape: bom, version: cyclonedxMinor(value["specVersion"]), place: jsonLocation });
    return extractCycloneDx(value, "json");
  }
  if (Object.hasOwn(value, "spdxVersion")) {
    check({ document: value, shape: spdx2, version: spdx2Minor(value["spdxVersion"]), place: jsonLocation });
    return extractSpdx2(value, "json");
  }
  const graph = graphOf(value);
  if (graph === null) throw notAnSbom(recognizeJson(value));
  check({ document: graph, shape: spdx3, version: 0, place: jsonLocation });
  return extractSpdx3(graph);
}

function parseTagValueSbom(text: string): ParsedSbom {
  if (!/^[ \t]*SPDXVersion[ \t]*:/m.test(text)) throw notAnSbom(recognizeText(text) ?? "text of no kind that is known here");
  const { value, lines } = readTagValue(text);
  check({
    document: value,
    shape: spdx2,
    version: spdx2Minor(value["spdxVersion"]),
    place: (path) => lineLocation(path, { value, lines }),
  });
  return extractSpdx2(value, "tag-value");
}

interface Check {
  document: JsonObject;
  shape: ObjectShape;
  version: number;
  place: (path: Path) => string;
}

function check({ document, shape, version, place }: Check): void {
  const faults = validate({ value: document, shape, version });
  if (faults.length > 0) throw invalidSbom(faults.map(({ path, says }) => ({ path: place(path), says })));
}

function notAnSbom(is: string): SbomRefusal {
  return new SbomRefusal("not_an_sbom", `The document is not an SBOM that is read here but ${is}`);
}
