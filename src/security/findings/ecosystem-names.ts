import type { Ecosystem } from "../versions/ecosystem.ts";

/** The names of the ecosystems in the tools API, from the specification. */
export const ecosystemNames = ["npm", "pypi", "maven", "go", "cargo", "rubygems", "nuget"] as const;
export type EcosystemName = (typeof ecosystemNames)[number];

const byName: Record<EcosystemName, Ecosystem> = {
  npm: "npm",
  pypi: "PyPI",
  maven: "Maven",
  go: "Go",
  cargo: "crates.io",
  rubygems: "RubyGems",
  nuget: "NuGet",
};
const names = new Map(ecosystemNames.map((name) => [byName[name], name]));

export function ecosystemOfName(name: EcosystemName): Ecosystem {
  return byName[name];
}

export function ecosystemNameOf(ecosystem: Ecosystem): EcosystemName {
  const name = names.get(ecosystem);
  if (name === undefined) throw new Error(`The ecosystem "${ecosystem}" has no name in the tools API`);
  return name;
}
