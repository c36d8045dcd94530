/** VEX documents of up to 1 MiB that are as slow as possible to read. */
import { heavyValues } from "./heavy-values.ts";

const analysis = { state: "resolved" };
const issue = "CVE-2024-1000";
const many = <Made>(count: number, make: (index: number) => Made): Made[] =>
  Array.from({ length: count }, (_, index) => make(index));

function documentOf(vulnerabilities: unknown, components: unknown = []): string {
  return JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.6", components, vulnerabilities });
}

function aboutRefs(refs: readonly string[]): string {
  return documentOf([{ id: issue, analysis, affects: refs.map((ref) => ({ ref })) }]);
}

const heavyRange = `vers:npm/${many(250, (index) => `${index}.0.0`).join("|")}`;

function productOf(index: number): object {
  return { name: "a", product_id: String(index), product_identification_helper: { purl: `pkg:npm/a@${index}` } };
}

function csafOf(tree: object, vulnerabilities: object[]): string {
  return JSON.stringify({ document: { category: "csaf_vex", csaf_version: "2.0" }, product_tree: tree, vulnerabilities });
}

export const hostileVex: Record<string, string> = {
  "statements about issues": documentOf(
    many(5_000, (index) => ({ id: `CVE-2024-${1_000 + index}`, analysis, affects: [{ ref: `pkg:npm/%40a/b${index}@1.0.0` }] })),
  ),
  "statements about all components": documentOf(many(10_000, () => ({ id: issue, analysis }))),
  "names to normalise": aboutRefs(many(4_800, (index) => `pkg:pypi/${"a_".repeat(80)}b${index}@1.0.0`)),
  "escapes in references": aboutRefs(many(4_800, (index) => `urn:cdx:1/1#pkg:pypi/${"%41".repeat(60)}b${index}@1.0.0`)),
  "more references than are taken": aboutRefs(many(45_000, () => "pkg:npm/b@1")),
  "a reference of segments": aboutRefs([`pkg:golang/${"a/".repeat(450_000)}b@1`]),
  "a reference of escapes": aboutRefs([`pkg:npm/${"%41".repeat(300_000)}@1`]),
  components: documentOf(
    [],
    many(28_000, (index) => ({ "bom-ref": `b${index}`, purl: `p${index}` })),
  ),
  "ranges of versions": documentOf([
    {
      id: issue,
      analysis,
      affects: [{ ref: "pkg:npm/a", versions: many(500, () => ({ range: heavyRange, status: "affected" })) }],
    },
  ]),
  "other ids": documentOf(
    many(450, (index) => ({ id: issue, references: many(100, (at) => ({ id: `GHSA-${index}-${at}` })), analysis })),
  ),
  "subcomponents of OpenVEX": JSON.stringify({
    "@context": "https://openvex.dev/ns/v0.2.0",
    statements: many(50, () => ({
      vulnerability: { name: issue },
      products: many(50, (at) => ({ "@id": "x", subcomponents: many(10, (index) => ({ "@id": `pkg:npm/b${at}@${index}` })) })),
      status: "fixed",
    })),
  }),
  "products of CSAF": csafOf({ full_product_names: many(10_001, (index) => productOf(index)) }, []),
  "groups of CSAF": csafOf(
    {
      full_product_names: many(5_000, (index) => productOf(index)),
      product_groups: [{ group_id: "g", product_ids: many(5_000, String) }],
    },
    [
      {
        cve: issue,
        product_status: { fixed: many(5_000, String) },
        remediations: many(5_000, () => ({ group_ids: many(5, () => "g") })),
      },
    ],
  ),
  "branches of CSAF": csafOf(
    { branches: many(7_000, (index) => ({ category: "product_version", name: "1", product: productOf(index) })) },
    [],
  ),
  ...Object.fromEntries(
    Object.entries(heavyValues).map(([name, value]) => [name, `{"bomFormat":"CycloneDX","vulnerabilities":${value}}`]),
  ),
};
