/**
 * The syntaxes of lock files, JSON, YAML, TOML and XML, each with its own limits and errors that name the location.
 *
 * JSON is parsed as in SBOMs, JSONC after its comments and trailing commas are gone. YAML is read as package managers write it: no aliases, no tags, and numbers as text, so a version 1.10 stays
 * 1.10. TOML yields the `[[package]]` entries that Poetry, uv, PDM and cargo share. XML becomes a tree without namespaces, comments or
 * processing instructions; a document type is refused, because it may declare entities.
 */
import { boolCoreTag, FAILSAFE_SCHEMA, loadAll, nullCoreTag, YAMLException } from "js-yaml";
import { SaxesParser } from "saxes";
import { parse, TomlError } from "smol-toml";
import { lockFileDepthMax, lockFileFieldsMax, lockFileValuesMax } from "../limits.ts";
import { parseJson, isObject, type JsonObject, type JsonValue, fieldOf, textOf } from "../sboms/json.ts";
import { SbomRefusal } from "../sboms/refusal.ts";
import { LockFileError } from "./lock-graph.ts";

/** @throws LockFileError */
export function parseLockJson(text: string): JsonObject {
  const value = parsed(text);
  if (!isObject(value)) throw new LockFileError("is JSON, but not an object");
  return value;
}

/** JSON with comments and trailing commas, as Bun writes it. @throws LockFileError */
export function parseLockJsonc(text: string): JsonObject {
  return parseLockJson(strictJson(text));
}

const schema = FAILSAFE_SCHEMA.withTags(nullCoreTag, boolCoreTag);

/** The documents of a stream that are mappings. @throws LockFileError with the line */
export function parseLockYaml(text: string): JsonObject[] {
  try {
    return valuesOf(loadAll(text, { schema, maxAliases: 0, maxDepth: lockFileDepthMax })).filter(isObject);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const line = error.mark ? `, in line ${error.mark.line + 1}` : "";
    throw new LockFileError(`cannot be read as YAML: ${error.reason}${line}`);
  }
}

export interface LockEntry {
  name: string;
  version: string | null;
  fields: JsonObject;
}

/** @param list the name of the tables of packages @throws LockFileError with the entry */
export function lockEntries(text: string, list = "package"): { lock: JsonObject; entries: LockEntry[] } {
  const lock = parseLockToml(text);
  const packages = fieldOf(lock, list) ?? [];
  if (!Array.isArray(packages)) throw new LockFileError(`${list}: is not a list of tables`);
  const entries = packages.map((fields, index) => {
    const name = isObject(fields) ? textOf(fields, "name") : null;
    if (!isObject(fields) || name === null) throw new LockFileError(`${list}[${index}].name: is missing`);
    return { name, version: textOf(fields, "version"), fields };
  });
  return { lock, entries };
}

const reasonCharactersMax = 200;

export interface XmlElement {
  /** Without its prefix. */
  name: string;
  attributes: ReadonlyMap<string, string>;
  children: XmlElement[];
  text: string;
}

/** @returns the root element @throws LockFileError with the line; a document type is refused, because it may declare entities */
export function parseLockXml(text: string): XmlElement {
  const parser = new SaxesParser({ position: true });
  const top: XmlElement = { name: "", attributes: new Map(), children: [], text: "" };
  const open = [top];
  let count = 0;
  const refusal = (reason: string) => new LockFileError(`cannot be read as XML: ${reason}, in line ${parser.line}`);
  parser.on("error", (error) => {
    // The parser's message may quote a name of any length.
    throw refusal(error.message.replace(/^\d+:\d+: /, "").slice(0, reasonCharactersMax));
  });
  parser.on("doctype", () => {
    throw refusal("it has a document type, which may declare entities; remove it");
  });
  parser.on("opentag", ({ name, attributes }) => {
    if (open.length > lockFileDepthMax || ++count > lockFileValuesMax) throw refusal("it is too deep or has too many elements");
    const element = { name: localName(name), attributes: new Map(Object.entries(attributes)), children: [], text: "" };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  let fields = 0;
  parser.on("opentagstart", () => void (fields = 0));
  parser.on("attribute", () => {
    if (++fields > lockFileFieldsMax) throw refusal("an element has too many attributes");
  });
  const append = (piece: string): void => {
    const element = open.at(-1);
    if (element !== undefined) element.text += piece;
  };
  parser.on("text", append);
  parser.on("cdata", append);
  parser.on("closetag", () => void open.pop());
  parser.write(text).close();
  const [root] = top.children;
  if (root === undefined) throw refusal("it has no element");
  return root;
}

/** The children with that name; none if the element is absent. */
export function childrenOf(element: XmlElement | undefined, name: string): XmlElement[] {
  return element?.children.filter((child) => child.name === name) ?? [];
}

/** The first child with that name. */
export function childOf(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return childrenOf(element, name)[0];
}

/** null if there is no such child or it is empty. */
export function childText(element: XmlElement | undefined, name: string): string | null {
  return childOf(element, name)?.text.trim() || null;
}

const bounds = { depthMax: lockFileDepthMax, valuesMax: lockFileValuesMax, fieldsMax: lockFileFieldsMax };

function parsed(text: string) {
  try {
    return parseJson(new TextEncoder().encode(text), text, bounds);
  } catch (error) {
    if (!(error instanceof SbomRefusal)) throw error;
    throw new LockFileError(error.message.replace(/^The document /, ""));
  }
}

/**
 * Without comments, and without a comma before the end of a list or an object. An unclosed text or comment takes the rest; otherwise each
 * later mark would be tried up to the end.
 */
function strictJson(text: string): string {
  const tokens = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)|,|[^\s",/]+|\s+|\//g;
  const kept: string[] = [];
  let comma = -1;
  for (const [token] of text.matchAll(tokens)) {
    if (token.startsWith("//") || token.startsWith("/*")) continue;
    kept.push(token);
    if (token === ",") comma = kept.length - 1;
    else if (token.trim() !== "") {
      if (comma !== -1 && /^[\]}]/.test(token)) kept[comma] = "";
      comma = -1;
    }
  }
  return kept.join("");
}

/** The schema produces only texts, booleans, nulls, lists and mappings with text keys. */
function valuesOf(documents: unknown): JsonValue[] {
  return documents as JsonValue[];
}

/** @throws LockFileError with the line */
function parseLockToml(text: string): JsonObject {
  try {
    return tableOf(parse(text, { maxDepth: lockFileDepthMax, integersAsBigInt: "asNeeded", unsafeKeyBehaviour: "throw" }));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason = ""] = error.message.split("\n", 1);
    throw new LockFileError(`cannot be read as TOML: ${reason.replace(/^Invalid TOML document: /, "")}, in line ${error.line}`);
  }
}

/** Dates and large integers are not JSON; readers use texts, booleans, lists and tables, and ignore the rest. */
function tableOf(table: object): JsonObject {
  return table as JsonObject;
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}
