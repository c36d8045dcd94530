/** "SBOM management": every SBOM of a user is read, with the same result in every format. */
import { describe, expect, test } from "bun:test";
import { pathsOf } from "../../../src/security/sboms/document.ts";
import { readSbom } from "../../../src/security/sboms/read-sbom.ts";
import {
  bomJson,
  bomXml,
  bytesOf,
  contentOf,
  cyclonedxVersions,
  read,
  spdx3Json,
  spdxJson,
  spdxTagValue,
} from "../../support/security/sbom-documents.ts";

describe.each(cyclonedxVersions)("CycloneDX %s", (version) => {
  const fromJson = read(bomJson(version));

  test("is read from JSON with its components, nested ones included and its root apart", () => {
    expect(fromJson).toMatchObject({
      format: "CycloneDX",
      specVersion: version,
      encoding: "json",
      name: "app",
      tools: ["acme/maker@2.0"],
    });
    expect(fromJson).toMatchObject({
      documentId: "urn:uuid:3e671687-395b-41f5-a30f-a58921a69b79",
      created: "2026-01-31T12:00:00Z",
    });
    expect(fromJson.root).toMatchObject({ ref: "app", type: "application", relation: "root", distance: 0 });
    expect(fromJson.components.map(({ ref }) => ref)).toEqual(["inner", "left", "right"]);
    const [inner, left, right] = fromJson.components;
    expect(left).toMatchObject({
      group: "@scope",
      name: "left",
      version: "1.2.3",
      scope: "required",
      hashes: 1,
      licenses: ["MIT"],
      parent: null,
    });
    expect(left?.purl.parsed).toMatchObject({ type: "npm", namespace: "@scope", name: "left", version: "1.2.3" });
    expect(right?.licenses).toEqual(["MIT OR Apache-2.0"]);
    expect(inner).toMatchObject({ name: "inner <&> é", parent: "right", licenses: ["Own"] });
    expect(inner?.purl).toEqual({ written: null, parsed: null, reason: "the document gives no package URL" });
  });

  test("tells direct from transitive components, with a way from the root to each", () => {
    expect(fromJson.components.map(({ ref, relation, distance }) => [ref, relation, distance])).toEqual([
      ["inner", "transitive", 3],
      ["left", "direct", 1],
      ["right", "transitive", 2],
    ]);
    expect(pathsOf(fromJson)("inner")).toEqual(["app", "left", "right", "inner"]);
  });

  test("gives the same document from XML as from JSON", () => {
    const fromXml = read(bomXml(version));
    expect(fromXml.encoding).toBe("xml");
    expect(contentOf(fromXml)).toEqual(contentOf(fromJson));
  });
});

describe.each(["2.2", "2.3"] as const)("SPDX %s", (version) => {
  const fromJson = read(spdxJson(version));

  test("is read from JSON: packages are the components, the described one is the root, files are not components", () => {
    expect(fromJson).toMatchObject({
      format: "SPDX",
      specVersion: version,
      documentId: "https://example.com/app-1",
      tools: ["maker-2.0"],
    });
    expect(fromJson.root?.ref).toBe("SPDXRef-app");
    expect(fromJson.components.map(({ ref, relation, licenses, hashes }) => [ref, relation, licenses, hashes])).toEqual([
      ["SPDXRef-left", "direct", ["MIT"], 1],
      ["SPDXRef-right", "transitive", ["MIT OR Apache-2.0"], 0],
    ]);
    expect(fromJson.components[0]?.purl.parsed?.name).toBe("left");
    expect(fromJson.missingRefs).toEqual([]);
  });

  test("gives the same document from tag-value as from JSON", () => {
    expect(contentOf(read(spdxTagValue(version)))).toEqual(contentOf(fromJson));
    expect(contentOf(read(spdxTagValue(version).replaceAll("\n", "\r\n")))).toEqual(contentOf(fromJson));
  });
});

describe("SPDX 3.0", () => {
  test("is known by its @context and read from its graph, through bills of materials to the root", () => {
    const document = read(spdx3Json());
    expect(document).toMatchObject({
      format: "SPDX",
      specVersion: "3.0.1",
      encoding: "json-ld",
      documentId: "urn:document",
      tools: ["maker-2.0"],
    });
    expect(document.root).toMatchObject({ ref: "urn:app", type: "application" });
    expect(document.components.map(({ name, relation, licenses }) => [name, relation, licenses])).toEqual([
      ["left", "direct", ["MIT"]],
      ["right", "transitive", []],
    ]);
    expect(document.components.map(({ purl }) => purl.parsed?.name)).toEqual(["left", "right"]);
    expect(document.components[1]?.type).toBe("operating-system");
    expect(document.missingRefs).toEqual([]);
  });

  test("may be one element without a graph", () => {
    const { "@context": context } = spdx3Json();
    const element = { type: "software_Package", spdxId: "urn:p", creationInfo: {}, name: "p" };
    expect(read({ "@context": [context], ...element }).components.map(({ ref }) => ref)).toEqual(["urn:p"]);
  });
});

describe("a document", () => {
  test("read twice gives the same, with the same digest", () => {
    const bytes = bytesOf(bomJson("1.6"));
    expect(readSbom(bytes)).toEqual(readSbom(bytes));
    expect(readSbom(bytes).sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  test("in another order, or with other blanks, has another hash of its bytes and the same digest", () => {
    const document = bomJson("1.6");
    const reordered = JSON.stringify(
      { ...document, components: document.components.toReversed(), dependencies: document.dependencies.toReversed() },
      null,
      2,
    );
    expect(read(reordered).digest).toBe(read(document).digest);
    expect(read(reordered).sha256).not.toBe(read(document).sha256);
  });

  test("of other content has another digest", () => {
    const digests = ["1.2.3", "1.2.4"].map(
      (version) => read(JSON.stringify(bomJson("1.6")).replace("left@1.2.3", `left@${version}`)).digest,
    );
    expect(new Set(digests).size).toBe(2);
  });

  test("can be handed from a worker process to another", () => {
    const document = read(bomJson("1.6"));
    expect(structuredClone(document)).toEqual(document);
  });
});

describe("encodings", () => {
  const withMark = (mark: number[], bytes: Uint8Array) => new Uint8Array([...mark, ...bytes]);
  const utf16 = (text: string) => new Uint8Array(Buffer.from(`\ufeff${text}`, "utf16le"));

  test("UTF-8 with a byte order mark is read in every format", () => {
    for (const document of [bomJson("1.6"), bomXml("1.6"), spdxTagValue("2.3"), spdx3Json()]) {
      const marked = readSbom(withMark([0xef, 0xbb, 0xbf], bytesOf(document)));
      expect(marked.digest).toBe(read(document).digest);
    }
  });

  test("XML may be UTF-16 with a byte order mark, in either order of bytes", () => {
    const text = bomXml("1.6").replace("UTF-8", "UTF-16");
    const littleEndian = utf16(text);
    expect(readSbom(littleEndian).digest).toBe(read(bomXml("1.6")).digest);
    expect(readSbom(new Uint8Array(Buffer.from(littleEndian).swap16())).digest).toBe(read(bomXml("1.6")).digest);
  });
});

describe("XML", () => {
  test("breaks long texts over lines, which are one blank", () => {
    const broken = bomXml("1.6").replace("MIT OR Apache", "MIT\n        OR Apache");
    expect(read(broken).digest).toBe(read(bomXml("1.6")).digest);
  });

  test("may bind CycloneDX's namespace to a prefix, and hold elements of other namespaces and unknown attributes", () => {
    const prefixed = bomXml("1.6")
      .replaceAll(/<(\/?)([a-z])/g, "<$1c:$2")
      .replace("xmlns=", 'xmlns:x="urn:x" other="1" xmlns:c=')
      .replace("<c:components>", '<c:components><x:component x:type="y"><c:name>passed over</c:name></x:component>');
    expect(read(prefixed).digest).toBe(read(bomXml("1.6")).digest);
  });
});
