/**
 * Converts CycloneDX XML to the value that the same document has in JSON, guided by the shape: elements without a shape are skipped and use
 * no memory. `validate` then finds the faults of that value.
 *
 * The parser is saxes. It refuses anything not well-formed (undefined entities, unbound prefixes, two roots), reports the location, and
 * takes a quarter of a tree-building parser's time and memory for 50 MiB. DTDs are refused before the parser runs.
 */
import { SaxesParser, type SaxesTagNS } from "saxes";
import { sbomDepthMax, sbomFieldsMax, sbomValuesMax, sbomTextCharactersMax } from "../../limits.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { SbomRefusal } from "../refusal.ts";
import type { ObjectShape, Field, ListShape, Shape } from "../shape.ts";

const chunkCharacters = 65_536;

interface XmlBom {
  /** Such as `1.6`; null if the root is not a CycloneDX `bom`. */
  specVersion: string | null;
  /** The root element as written, to be quoted in a sentence. */
  rootName: string;
  value: JsonObject;
}

/** @throws SbomRefusal malformed for anything not well-formed, a DTD or external entities; too_large; truncated */
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

interface OpenElement {
  name: string;
  /** In the document's namespace; elements in other namespaces are skipped. */
  isOurs: boolean;
  attributes: Record<string, { value: string; uri: string }>;
}

/** An open element. */
interface Frame {
  shape: Shape;
  value: JsonValue;
  text: string;
  /** Assigns the finished value to its parent. */
  put: (value: JsonValue) => void;
}

const nothing = (): void => {};

class ElementReader {
  readonly #frames: Frame[] = [];
  readonly #root: ObjectShape;
  /** The number of open elements within a skipped one. */
  #passed = 0;
  value: JsonObject = {};

  constructor(root: ObjectShape) {
    this.#root = root;
  }

  get depth(): number {
    return this.#frames.length + this.#passed;
  }

  open(element: OpenElement): void {
    const [top] = this.#frames.slice(-1);
    const frame = this.#passed > 0 || !element.isOurs ? null : top === undefined ? this.#rootFrame() : childFrame(top, element);
    if (frame === null) {
      this.#passed++;
      return;
    }
    this.#frames.push(frame);
    if (frame.shape.kind === "object") readAttributes(frame, frame.shape, element);
  }

  text(piece: string): void {
    const frame = this.#frames[this.#frames.length - 1];
    // A text that is already too long is refused or skipped, whatever follows.
    if (this.#passed === 0 && frame !== undefined && frame.text.length <= sbomTextCharactersMax) frame.text += piece;
  }

  close(): void {
    if (this.#passed > 0) {
      this.#passed--;
      return;
    }
    const frame = this.#frames.pop();
    if (frame !== undefined) frame.put(finished(frame));
  }

  #rootFrame(): Frame {
    return { shape: this.#root, value: this.value, text: "", put: nothing };
  }
}

interface KnownField {
  key: string;
  field: Field;
}

interface XmlForm {
  elements: Map<string, KnownField>;
  attributes: Map<string, KnownField>;
  content: KnownField | undefined;
}

const forms = new WeakMap<ObjectShape, XmlForm>();
const elementsOf = (shape: ObjectShape) => formOf(shape).elements;
const attributesOf = (shape: ObjectShape) => formOf(shape).attributes;
const contentOf = (shape: ObjectShape) => formOf(shape).content;

/**
 * Checked before the parser runs, which would read a whole DTD before reporting it. Only comments and processing instructions may precede
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

function notWellFormed(message: string): SbomRefusal {
  if (/unclosed tag|must contain a root|unexpected end/.test(message)) {
    return new SbomRefusal("truncated", `The document is XML that ends in the middle (${message}); upload the whole file`);
  }
  return new SbomRefusal("malformed", `The document is not well-formed XML: line and column ${message.replace(/\.$/, "")}`);
}

const namespace = /^http:\/\/cyclonedx\.org\/schema\/bom\/(\d+\.\d+)$/;

function described(root: SaxesTagNS | null, value: JsonObject): XmlBom {
  const specVersion = root?.local === "bom" ? (namespace.exec(root.uri)?.[1] ?? null) : null;
  return { specVersion, rootName: root?.name ?? "", value };
}

function childFrame(parent: Frame, element: OpenElement): Frame | null {
  if (parent.shape.kind === "either") settle(parent, parent.shape, element.name);
  if (parent.shape.kind === "list") return itemFrame(parent, parent.shape, element);
  return parent.shape.kind === "object" ? fieldFrame(parent, parent.shape, element) : null;
}

/** The first child shows which of the two forms a field has. */
function settle(frame: Frame, shape: Extract<Shape, { kind: "either" }>, name: string): void {
  frame.shape = name === shape.list.items ? shape.list : shape.object;
  frame.value = emptyOf(frame.shape);
}

function emptyOf(shape: Shape): JsonValue {
  if (shape.kind === "list" || shape.kind === "either") return [];
  return shape.kind === "object" ? {} : null;
}

function itemFrame(parent: Frame, shape: ListShape, element: OpenElement): Frame | null {
  const items = parent.value;
  if (!Array.isArray(items) || element.name === shape.passes) return null;
  if (shape.choice !== undefined) return chosenFrame(items, shape, element);
  // `validate` refuses null, because no item may be null.
  if (element.name !== shape.items) return frameOf({ kind: "opaque" }, () => items.push(null));
  return frameOf(shape.of(), (value) => items.push(value));
}

function chosenFrame(items: JsonValue[], shape: ListShape, element: OpenElement): Frame {
  const choices = shape.choice ?? {};
  const chosen = Object.hasOwn(choices, element.name) ? choices[element.name] : undefined;
  const of = shape.of();
  const field = chosen === undefined || of.kind !== "object" ? undefined : of.fields[chosen.field];
  if (chosen === undefined || field === undefined) return frameOf({ kind: "opaque" }, () => items.push(null));
  if (chosen.attribute !== undefined) {
    const value = element.attributes[chosen.attribute]?.value ?? "";
    return frameOf({ kind: "opaque" }, () => items.push({ [chosen.field]: value }));
  }
  return frameOf(field.shape, (value) => items.push({ [chosen.field]: value }));
}

function frameOf(shape: Shape, put: (value: JsonValue) => void): Frame {
  return { shape, value: emptyOf(shape), text: "", put };
}

function fieldFrame(parent: Frame, shape: ObjectShape, element: OpenElement): Frame {
  const object = objectIn(parent);
  const known = elementsOf(shape).get(element.name);
  if (known === undefined) return frameOf({ kind: "opaque" }, () => (object[element.name] = true));
  const { key, field } = known;
  if (field.shape.kind === "list" && field.shape.flat !== undefined)
    return flatFrame({ object, key, shape: field.shape, element });
  return frameOf(field.shape, (value) => {
    // A repeated element becomes a list, which no single-valued field accepts.
    object[key] = field.shape.kind !== "opaque" && Object.hasOwn(object, key) ? [object[key] ?? null, value] : value;
  });
}

function objectIn(frame: Frame): JsonObject {
  if (typeof frame.value !== "object" || frame.value === null || Array.isArray(frame.value)) frame.value = {};
  return frame.value;
}

function flatFrame({
  object,
  key,
  shape,
  element,
}: {
  object: JsonObject;
  key: string;
  shape: ListShape;
  element: OpenElement;
}): Frame {
  const items = (object[key] ??= []);
  const attribute = element.attributes[shape.itemAttribute ?? ""]?.value ?? null;
  return frameOf({ kind: "opaque" }, () => {
    if (Array.isArray(items)) items.push(attribute);
  });
}

function readAttributes(frame: Frame, shape: ObjectShape, element: OpenElement): void {
  const object = objectIn(frame);
  for (const [name, { value, uri }] of Object.entries(element.attributes)) {
    const known = uri === "" ? attributesOf(shape).get(name) : undefined;
    if (known !== undefined) object[known.key] = scalar(known.field.shape, value);
  }
}

function scalar(shape: Shape, written: string): JsonValue {
  if (shape.kind === "flag")
    return written === "true" || written === "1" ? true : written === "false" || written === "0" ? false : written;
  if (shape.kind === "integer") return /^[+-]?\d{1,15}$/.test(written) ? Number(written) : written;
  return shape.kind === "opaque" ? true : written;
}

function finished(frame: Frame): JsonValue {
  if (frame.shape.kind === "list" || frame.shape.kind === "either") return frame.value;
  if (frame.shape.kind !== "object") return scalar(frame.shape, unbroken(frame.text));
  const content = contentOf(frame.shape);
  if (content !== undefined) objectIn(frame)[content.key] = scalar(content.field.shape, unbroken(frame.text));
  return frame.value;
}

/** Line breaks and indentation within a text come from the XML writer; in JSON, the same text has a space there. */
function unbroken(text: string): string {
  return text.trim().replaceAll(/\s+/g, (blanks) => (/[\t\r\n]/.test(blanks) ? " " : blanks));
}

function formOf(shape: ObjectShape): XmlForm {
  const known = forms.get(shape);
  if (known !== undefined) return known;
  const form: XmlForm = { elements: new Map(), attributes: new Map(), content: undefined };
  for (const [key, field] of Object.entries(shape.fields)) {
    const name = field.xml?.name ?? (field.shape.kind === "list" ? (field.shape.flat ?? key) : key);
    if (field.xml?.as === "attribute") form.attributes.set(name, { key, field });
    else if (field.xml?.as === "content") form.content = { key, field };
    else form.elements.set(name, { key, field });
  }
  forms.set(shape, form);
  return form;
}
