import { ecosystems, type Ecosystem } from "../versions/ecosystem.ts";

/** What the tools API calls the ecosystems, by the specification. */
export const ecosystemWords = ["npm", "pypi", "maven", "go", "cargo", "rubygems", "nuget"] as const;
export type EcosystemWord = (typeof ecosystemWords)[number];

const byWord: Record<EcosystemWord, Ecosystem> = {
  npm: "npm",
  pypi: "PyPI",
  maven: "Maven",
  go: "Go",
  cargo: "crates.io",
  rubygems: "RubyGems",
  nuget: "NuGet",
};
const words = new Map(ecosystemWords.map((word) => [byWord[word], word]));

export function ecosystemOfWord(word: EcosystemWord): Ecosystem {
  return byWord[word];
}

export function wordOf(ecosystem: Ecosystem): EcosystemWord {
  const word = words.get(ecosystem);
  if (word === undefined) throw new Error(`No word stands for one of the ${ecosystems.length} ecosystems: "${ecosystem}"`);
  return word;
}
