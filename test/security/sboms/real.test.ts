/** Real SBOMs of other projects, read in place: each is read, with as many components as a simple count of its text. */
import { describe, expect, test } from "bun:test";
import type { SbomComponent, SbomDocument } from "../../../src/security/sboms/document.ts";
import { readSbom } from "../../../src/security/sboms/read-sbom.ts";
import { archivedFiles } from "../../support/security/archives.ts";
import { testData } from "../../support/test-data.ts";

const archive = testData("sboms.tar.gz");
const files = archive === null ? new Map<string, Uint8Array>() : archivedFiles(archive);
const names = [...files.keys()].filter((name) => /\.(?:json|xml)$/.test(name));
if (archive === null) console.log("skipped: the real SBOMs are not there (WEIR_TEST_DATA)");

const read = new Map<string, SbomDocument>();

/** Each is read once. */
function documentOf(name: string): SbomDocument {
  const known = read.get(name);
  if (known !== undefined) return known;
  const document = readSbom(files.get(name) ?? new Uint8Array());
  read.set(name, document);
  return document;
}

interface Counted {
  components?: Counted[];
}

/** Including nested ones. */
const count = ({ components = [] }: Counted): number => components.reduce((sum, one) => sum + 1 + count(one), 0);

/** All elements except the root's: in these documents none is in a comment, a pedigree or the root. */
function countXml(text: string): number {
  const elements = (part: string) => part.split(/<component[\s>]/).length - 1;
  return elements(text) - elements(/<metadata>[^]*?<\/metadata>/.exec(text)?.[0] ?? "");
}

/** The tool that wrote one of the pairs wrote the scope only in XML. */
function withoutScope({ scope: _, ...component }: SbomComponent) {
  return component;
}

describe.skipIf(archive === null)("real SBOMs", () => {
  test.each(names)("%s", (name) => {
    const { components } = documentOf(name);
    const text = new TextDecoder().decode(files.get(name));
    expect(components.length).toBe(name.endsWith(".xml") ? countXml(text) : count(JSON.parse(text) as Counted));
    expect(components.filter(({ purl }) => purl.parsed === null)).toEqual([]);
  });

  test("give the same document from JSON and from XML", () => {
    const inJson = names.filter((name) => name.endsWith(".json"));
    expect(inJson).toHaveLength(9);
    for (const name of inJson) {
      const [one, other] = [documentOf(name), documentOf(name.replace(/json$/, "xml"))];
      expect(other.components.map(withoutScope)).toEqual(one.components.map(withoutScope));
      expect(other.edges).toEqual(one.edges);
    }
  });

  test("of tools that write the graph have a way from the root to every component", () => {
    const graphs = names.filter((name) => name.includes("via_npm")).map(documentOf);
    expect(graphs.length).toBe(12);
    for (const { components } of graphs) expect(components.filter(({ relation }) => relation === "unknown")).toEqual([]);
  });
});
