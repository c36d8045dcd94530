/** "Components, dependency graph, direct or transitive with the path." */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { pathsOf, type SbomDocument } from "../../../src/security/sboms/document.ts";
import { bomJson, read, spdxJson } from "../../support/security/sbom-documents.ts";

const library = (ref: string, more: object = {}) => ({ type: "library", "bom-ref": ref, name: ref, version: "1", ...more });

/** A document whose root is `app`, with these components, and edges such as `a>b`. */
function graph(components: object[], edges: string[]): SbomDocument {
  const dependencies = edges.map((edge) => edge.split(">")).map(([ref, to]) => ({ ref, dependsOn: [to] }));
  return read({ ...bomJson("1.6"), components, dependencies });
}

const relations = (document: SbomDocument) => Object.fromEntries(document.components.map(({ ref, relation }) => [ref, relation]));
const bare = (refs: string) => [...refs].map((ref) => library(ref));

describe("ways", () => {
  test("go the shortest path from the root, and cycles end", () => {
    const document = graph(bare("abcd"), ["app>a", "a>b", "b>c", "c>a", "a>c", "c>d", "d>d"]);
    expect(relations(document)).toEqual({ a: "direct", b: "transitive", c: "transitive", d: "transitive" });
    expect(pathsOf(document)("d")).toEqual(["app", "a", "c", "d"]);
  });

  test("what nothing leads to is unknown and kept, and no path is made up", () => {
    const document = graph(bare("ab"), ["app>a", "b>a"]);
    expect(relations(document)).toEqual({ a: "direct", b: "unknown" });
    expect(pathsOf(document)("b")).toEqual([]);
  });

  test("without a root, or without a graph, all are unknown", () => {
    expect(relations(graph(bare("ab"), []))).toEqual({ a: "unknown", b: "unknown" });
    const { metadata: _, ...rootless } = bomJson("1.6");
    expect(Object.values(relations(read(rootless)))).toEqual(["unknown", "unknown", "unknown"]);
  });

  test("a nested component gets its container's path if no dependency leads to it", () => {
    const document = graph([library("a", { components: [library("b", { components: [library("c")] })] })], ["app>a"]);
    expect(pathsOf(document)("c")).toEqual(["app", "a", "b", "c"]);
    expect(document.components.map(({ ref, parent }) => [ref, parent])).toEqual([
      ["a", null],
      ["b", "a"],
      ["c", "b"],
    ]);
  });

  test("of what the root holds, what another needs is transitive", () => {
    const packages = ["app", "left", "right"].map((name) => ({ SPDXID: `SPDXRef-${name}`, name, downloadLocation: "NONE" }));
    const relationship = (from: string, relationshipType: string, to: string) => ({
      spdxElementId: `SPDXRef-${from}`,
      relationshipType,
      relatedSpdxElement: `SPDXRef-${to}`,
    });
    const relationships = [
      relationship("DOCUMENT", "DESCRIBES", "app"),
      relationship("app", "CONTAINS", "right"),
      relationship("app", "CONTAINS", "left"),
      relationship("right", "DEPENDENCY_OF", "left"),
    ];
    const document = read({ ...spdxJson("2.3"), packages, relationships });
    expect(relations(document)).toEqual({ "SPDXRef-left": "direct", "SPDXRef-right": "transitive" });
  });

  test("packages that hold each other end", () => {
    const packages = ["app", "a", "b"].map((name) => ({ SPDXID: name, name, downloadLocation: "NONE" }));
    const holds = (from: string, to: string) => ({ spdxElementId: from, relationshipType: "CONTAINS", relatedSpdxElement: to });
    const relationships = [holds("app", "a"), holds("a", "b"), holds("b", "a"), holds("b", "app")];
    const document = read({ ...spdxJson("2.3"), packages, relationships, documentDescribes: ["app"] });
    expect(pathsOf(document)("b")).toEqual(["app", "a", "b"]);
  });

  test("of several packages described none is the root, and each is direct", () => {
    const document = read({ ...spdxJson("2.3"), documentDescribes: ["SPDXRef-app", "SPDXRef-right"], relationships: [] });
    expect(document.root).toBeNull();
    expect(relations(document)).toEqual({ "SPDXRef-app": "direct", "SPDXRef-left": "unknown", "SPDXRef-right": "direct" });
  });
});

describe("references", () => {
  test("that nothing describes are reported, and their edges are kept", () => {
    const document = graph(bare("a"), ["app>a", "a>gone", "lost>a", "a>urn:cdx:3e671687-395b-41f5-a30f-a58921a69b79/1#x"]);
    expect(document.missingRefs).toEqual(["gone", "lost", "urn:cdx:3e671687-395b-41f5-a30f-a58921a69b79/1#x"]);
    expect(document.edges).toContainEqual({ from: "a", to: "gone" });
  });

  test("of services are known, and a way may go through one", () => {
    const { components: _, ...document } = bomJson("1.6");
    const services = [{ "bom-ref": "s", name: "s", services: [{ "bom-ref": "inner", name: "t" }] }];
    const dependencies = [
      { ref: "app", dependsOn: ["s", "inner"] },
      { ref: "s", dependsOn: ["a"] },
    ];
    const found = read({ ...document, services, dependencies, components: bare("a") });
    expect(found.missingRefs).toEqual([]);
    expect(found.components[0]).toMatchObject({ relation: "transitive", via: "s" });
    expect(pathsOf(found)("a")).toEqual(["app", "s", "a"]);
  });

  test("are made of what a component is where it has none, each once", () => {
    const nameless = { type: "library", name: "x", version: "1" };
    const components = [nameless, nameless, { ...nameless, group: "g" }, { ...nameless, purl: "pkg:npm/x@1" }, library("x@1")];
    const refs = read({ ...bomJson("1.6"), components, dependencies: [] }).components.map(({ ref }) => ref);
    expect(refs).toEqual(["g/x@1", "pkg:npm/x@1", "x@1", "x@1#2", "x@1#3"]);
  });

  test("each edge is listed once, in order", () => {
    expect(graph(bare("ab"), ["b>a", "a>b", "b>a"]).edges).toEqual([
      { from: "a", to: "b" },
      { from: "b", to: "a" },
    ]);
  });
});

test("distances are those of a plain search, on random graphs", () => {
  const refs = ["app", ..."abcdefgh"];
  const edge = fc.tuple(fc.constantFrom(...refs), fc.constantFrom(...refs));
  fc.assert(
    fc.property(fc.array(edge, { maxLength: 24 }), (edges) => {
      const document = graph(
        bare("abcdefgh"),
        edges.map(([from, to]) => `${from}>${to}`),
      );
      const distances = new Map([["app", 0]]);
      for (let round = 1; round < refs.length; round++) {
        for (const [from, to] of edges) if (distances.get(from) === round - 1 && !distances.has(to)) distances.set(to, round);
      }
      for (const { ref, distance } of document.components) {
        expect(distance).toBe(distances.get(ref) ?? null);
        expect(pathsOf(document)(ref)).toHaveLength(distance === null ? 0 : distance + 1);
      }
    }),
    { numRuns: 200 },
  );
});
