import { ecosystems, type Ecosystem } from "../versions/ecosystem.ts";

/** What the tools API calls the ecosystems, by the specification. */
export const ecosystemNames = ["npm", "pypi", "maven", "go", "cargo", "rubygems", "nuget"] as const;
export type EcosystemName = (typeof ecosystemNames)[number];

const byWord: Record<EcosystemName, Ecosystem> = {
  npm: "npm",
  pypi: "PyPI",
  maven: "Maven",
  go: "Go",
  cargo: "crates.io",
  rubygems: "RubyGems",
  nuget: "NuGet",
};
const words = new Map(ecosystemNames.map((word) => [byWord[word], word]));

export function ecosystemOfName(word: EcosystemName): Ecosystem {
  return byWord[word];
}

export function ecosystemNameOf(ecosystem: Ecosystem): EcosystemName {
  const word = words.get(ecosystem);
  if (word === undefined) throw new Error(`No word stands for one of the ${ecosystems.length} ecosystems: "${ecosystem}"`);
  return word;
}
