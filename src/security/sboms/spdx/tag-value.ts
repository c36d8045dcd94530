/**
 * Converts SPDX 2 tag-value text to the value that the same document has in JSON, with the line of each field.
 * Source: https://spdx.github.io/spdx-spec/v2.3/ (each field's "tag" example)
 */
import { isObject, type JsonObject, type JsonValue } from "../json/value.ts";
import { SbomRefusal } from "../refusal.ts";
import { readTags, type Tag } from "./tags.ts";

export interface TagValueDocument {
  value: JsonObject;
  /** The line where an object begins, and those of its fields. */
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

/** The tag that begins a section, the list that its object joins, and its fields; a null list means that it is not read. */
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

/** The first words of a text; the last one includes the rest. */
function wordsOf(value: string, count: number): string[] {
  const words = value.trim().split(/\s+/);
  return words.length <= count ? words : [...words.slice(0, count - 1), words.slice(count - 1).join(" ")];
}

function compact(fields: Record<string, string | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ""),
  );
}
