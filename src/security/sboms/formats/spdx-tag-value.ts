/**
 * Converts SPDX 2 tag-value text to the value that the same document has in JSON, with each field's line, so that a fault names its line. A
 * document has `Tag: value` lines, comments, and values in `<text>…</text>` that span lines. Source: https://spdx.github.io/spdx-spec/v2.3/
 * (each field's "tag" example).
 */
import { sbomValuesMax } from "../../limits.ts";
import { isObject, type JsonObject, type JsonValue } from "../json.ts";
import { SbomRefusal } from "../refusal.ts";
import { jsonLocation, type Path } from "../shape.ts";

interface TagValueDocument {
  value: JsonObject;
  /** The line where an object begins, and the lines of its fields. */
  lines: WeakMap<object, Map<string, number>>;
}

/** Tag → field, by the section of the tag. */
const documentFields: Record<string, string> = {
  SPDXVersion: "spdxVersion",
  DataLicense: "dataLicense",
  SPDXID: "SPDXID",
  DocumentName: "name",
  DocumentNamespace: "documentNamespace",
};

const packageFields: Record<string, string> = {
  PackageName: "name",
  SPDXID: "SPDXID",
  PackageVersion: "versionInfo",
  PackageDownloadLocation: "downloadLocation",
  PackageLicenseConcluded: "licenseConcluded",
  PackageLicenseDeclared: "licenseDeclared",
  PackageCopyrightText: "copyrightText",
  PrimaryPackagePurpose: "primaryPackagePurpose",
};

/** The tag that begins a section, the list that its object joins (null: it is not read), and its fields. */
const sections: Record<string, { list: string | null; fields: Record<string, string> }> = {
  PackageName: { list: "packages", fields: packageFields },
  FileName: { list: "files", fields: { FileName: "fileName", SPDXID: "SPDXID" } },
  SnippetSPDXID: { list: "snippets", fields: { SnippetSPDXID: "SPDXID", SPDXID: "SPDXID" } },
  LicenseID: { list: null, fields: {} },
  Annotator: { list: null, fields: {} },
  Reviewer: { list: null, fields: {} },
};

/** @throws SbomRefusal malformed, with the line */
export function readTagValue(text: string): TagValueDocument {
  const document = new Sections();
  for (const tag of readTags(text)) document.add(tag);
  return { value: document.value, lines: document.lines };
}

class Sections {
  readonly value: JsonObject = {};
  readonly lines = new WeakMap<object, Map<string, number>>();
  #object: JsonObject = this.value;
  #fields: Record<string, string> = documentFields;

  constructor() {
    this.lines.set(this.value, new Map());
  }

  add(tag: Tag): void {
    if (this.#addEverywhere(tag)) return;
    const section = Object.hasOwn(sections, tag.name) ? sections[tag.name] : undefined;
    if (section !== undefined) {
      this.#fields = section.fields;
      this.#object = section.list === null ? {} : this.#append(this.value, { list: section.list, item: {}, line: tag.line });
    }
    const key = Object.hasOwn(this.#fields, tag.name) ? this.#fields[tag.name] : undefined;
    if (key !== undefined) this.#set(this.#object, { key, value: tag.value, line: tag.line });
  }

  /** Tags with the same meaning in every section. */
  #addEverywhere({ name, value, line }: Tag): boolean {
    if (name === "Relationship") {
      const [from, type, to] = wordsOf(value, 3);
      this.#append(this.value, {
        list: "relationships",
        item: compact({ spdxElementId: from, relationshipType: type, relatedSpdxElement: to }),
        line,
      });
    } else if (name === "Creator") this.#texts(this.#creation(line), "creators").push(value);
    else if (name === "Created") this.#set(this.#creation(line), { key: "created", value, line });
    else if (name === "ExternalRef" && this.#fields === packageFields) {
      const [category, type, locator] = wordsOf(value, 3);
      const item = compact({ referenceCategory: category, referenceType: type, referenceLocator: locator });
      this.#append(this.#object, { list: "externalRefs", item, line });
    } else if (name === "PackageChecksum") {
      const colon = value.indexOf(":");
      const item = colon < 0 ? {} : { algorithm: value.slice(0, colon).trim(), checksumValue: value.slice(colon + 1).trim() };
      this.#append(this.#object, { list: "checksums", item, line });
    } else return false;
    return true;
  }

  #creation(line: number): JsonObject {
    const known = this.value["creationInfo"];
    if (isObject(known)) return known;
    const made: JsonObject = {};
    this.value["creationInfo"] = made;
    this.lines.set(made, new Map([["", line]]));
    return made;
  }

  #texts(object: JsonObject, key: string): JsonValue[] {
    const known = object[key];
    if (Array.isArray(known)) return known;
    const made: JsonValue[] = [];
    object[key] = made;
    return made;
  }

  #append(object: JsonObject, { list, item, line }: { list: string; item: JsonObject; line: number }): JsonObject {
    this.#texts(object, list).push(item);
    this.lines.set(item, new Map([["", line]]));
    return item;
  }

  #set(object: JsonObject, { key, value, line }: { key: string; value: string; line: number }): void {
    if (Object.hasOwn(object, key)) {
      throw new SbomRefusal(
        "malformed",
        `line ${line}: the document gives \`${key}\` a second time in one section; keep one of them`,
      );
    }
    object[key] = value;
    this.lines.get(object)?.set(key, line);
  }
}

interface Tag {
  name: string;
  value: string;
  /** Counted from 1. */
  line: number;
}

/** Such as `line 12 (packages[0].name)`: the line of the field, or the first line of the nearest known section. */
export function lineLocation(path: Path, { value, lines }: TagValueDocument): string {
  let line: number | undefined;
  let at: JsonValue | undefined = value;
  for (const step of path) {
    if (isObject(at)) {
      const known = lines.get(at);
      line = known?.get(String(step)) ?? known?.get("") ?? line;
      at = at[step];
    } else at = Array.isArray(at) ? at[Number(step)] : undefined;
  }
  const begins = isObject(at) ? lines.get(at)?.get("") : undefined;
  const place = jsonLocation(path);
  const found = begins ?? line;
  return found === undefined ? place : `line ${found} (${place})`;
}

const opening = "<text>";
const closing = "</text>";

/** @throws SbomRefusal malformed at a line without a tag, truncated in an unclosed text, too_large */
function* readTags(text: string): Generator<Tag> {
  let line = 1;
  for (let at = 0; at < text.length; line++) {
    if (line > sbomValuesMax) throw new SbomRefusal("too_large", `The document has more than ${sbomValuesMax} lines`);
    const end = endOfLine(text, at);
    const written = text.slice(at, end);
    at = end + 1;
    if (/^\s*(?:#|$)/.test(written)) continue;
    const colon = written.indexOf(":");
    const name = written.slice(0, Math.max(colon, 0)).trim();
    if (!/^[A-Za-z][A-Za-z0-9]*$/.test(name)) {
      throw new SbomRefusal(
        "malformed",
        `line ${line}: the document has no \`Tag: value\` here, but ${JSON.stringify(written.slice(0, 60))}`,
      );
    }
    const value = written.slice(colon + 1).trim();
    if (!value.startsWith(opening)) {
      yield { name, value, line };
      continue;
    }
    const start = end - written.length + written.indexOf(opening) + opening.length;
    const close = text.indexOf(closing, start);
    if (close < 0)
      throw new SbomRefusal("truncated", `line ${line}: the document has a <text> that does not end; upload the whole file`);
    const long = text.slice(start, close);
    yield { name, value: long.trim(), line };
    line += long.split("\n").length - 1;
    at = endOfLine(text, close) + 1;
  }
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** The first words of a text; the last one contains the rest. */
function wordsOf(value: string, count: number): string[] {
  const words = value.trim().split(/\s+/);
  return words.length <= count ? words : [...words.slice(0, count - 1), words.slice(count - 1).join(" ")];
}

function compact(fields: Record<string, string | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ""),
  );
}
