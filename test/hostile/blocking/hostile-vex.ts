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
  ...Object.fromEntries(
    Object.entries(heavyValues).map(([name, value]) => [name, `{"bomFormat":"CycloneDX","vulnerabilities":${value}}`]),
  ),
};
