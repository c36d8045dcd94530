/**
 * Converts CycloneDX XML to the value that the same document has in JSON, guided by the shape: elements without a shape are
 * skipped and use no memory. The parser is saxes: it refuses anything that is not well-formed (undefined entities, unbound
 * prefixes, two roots), reports the location, and needs a quarter of the time and memory of a tree-building parser for 50 MiB.
 */
import { SaxesParser, type SaxesTagNS } from "saxes";
import { sbomDepthMax, sbomFieldsMax, sbomValuesMax } from "../../limits.ts";
import type { JsonObject } from "../json/value.ts";
import { SbomRefusal } from "../refusal.ts";
import type { ObjectShape } from "../shape/shape.ts";
import { ElementReader } from "../shape/element-reader.ts";

const namespace = /^http:\/\/cyclonedx\.org\/schema\/bom\/(\d+\.\d+)$/;
const chunkCharacters = 65_536;

export interface XmlBom {
  /** Such as `1.6`; null if the root is not a CycloneDX `bom`. */
  specVersion: string | null;
  /** The root element as written, for a sentence. */
  rootName: string;
  value: JsonObject;
}

/**
 * @throws SbomRefusal malformed for anything that is not well-formed, for a DTD and for external entities; too_large; truncated
 */
export function readXmlBom(text: string, shape: ObjectShape): XmlBom {
  if (hasDoctype(text)) {
    throw new SbomRefusal(
      "malformed",
      "The document has a DTD (<!DOCTYPE …>); SBOMs need none, and entities are not expanded here: remove it",
    );
  }
  const reader = new ElementReader(shape);
  const parser = new SaxesParser({ xmlns: true });
  let root: SaxesTagNS | null = null;
  let elements = 0;
  parser.on("error", (error) => {
    throw notWellFormed(error.message);
  });
  let attributes = 0;
  parser.on("opentagstart", () => {
    attributes = 0;
  });
  parser.on("attribute", () => {
    if (++attributes > sbomFieldsMax)
      throw new SbomRefusal("too_large", `The document has an element of more than ${sbomFieldsMax} attributes`);
  });
  parser.on("opentag", (tag) => {
    root ??= tag;
    if (++elements > sbomValuesMax) throw new SbomRefusal("too_large", `The document holds more than ${sbomValuesMax} elements`);
    if (reader.depth >= sbomDepthMax)
      throw new SbomRefusal("too_large", `The document is nested deeper than ${sbomDepthMax} levels`);
    reader.open({ name: tag.local, isOurs: tag.uri === root.uri, attributes: tag.attributes });
  });
  parser.on("text", (piece) => reader.text(piece));
  parser.on("cdata", (piece) => reader.text(piece));
  parser.on("closetag", () => reader.close());
  for (let at = 0; at < text.length; at += chunkCharacters) parser.write(text.slice(at, at + chunkCharacters));
  parser.close();
  return described(root, reader.value);
}

/**
 * Checked before the parser runs, which would read a whole DTD before reporting it. Only comments and instructions may precede
 * one.
 */
function hasDoctype(text: string): boolean {
  let at = text.search(/\S/);
  for (;;) {
    const end = text.startsWith("<?", at) ? "?>" : text.startsWith("<!--", at) ? "-->" : null;
    if (end === null) return text.startsWith("<!DOCTYPE", at);
    const found = text.indexOf(end, at);
    if (found < 0) return false;
    at = found + end.length;
    while (/\s/.test(text.charAt(at))) at++;
  }
}

function described(root: SaxesTagNS | null, value: JsonObject): XmlBom {
  const specVersion = root?.local === "bom" ? (namespace.exec(root.uri)?.[1] ?? null) : null;
  return { specVersion, rootName: root?.name ?? "", value };
}

function notWellFormed(message: string): SbomRefusal {
  if (/unclosed tag|must contain a root|unexpected end/.test(message)) {
    return new SbomRefusal("truncated", `The document is XML that ends in the middle (${message}); upload the whole file`);
  }
  return new SbomRefusal("malformed", `The document is not well-formed XML: line and column ${message.replace(/\.$/, "")}`);
}
