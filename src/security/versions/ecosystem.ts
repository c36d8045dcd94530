/** The seven ecosystems whose versions are understood, by the names that OSV records use. */

export const ecosystems = ["npm", "PyPI", "Maven", "Go", "crates.io", "RubyGems", "NuGet"] as const;

export type Ecosystem = (typeof ecosystems)[number];

/** The type that a package URL of each ecosystem has: https://github.com/package-url/purl-spec/tree/main/types */
const packageUrlTypes: Record<Ecosystem, string> = {
  npm: "npm",
  PyPI: "pypi",
  Maven: "maven",
  Go: "golang",
  "crates.io": "cargo",
  RubyGems: "gem",
  NuGet: "nuget",
};

const byPackageUrlType = new Map(ecosystems.map((ecosystem) => [packageUrlTypes[ecosystem], ecosystem]));
const byName = new Map<string, Ecosystem>(ecosystems.map((ecosystem) => [ecosystem, ecosystem]));

export function packageUrlTypeOf(ecosystem: Ecosystem): string {
  return packageUrlTypes[ecosystem];
}

/** @returns null for a type of none of the seven */
export function ecosystemOfPackageUrlType(type: string): Ecosystem | null {
  return byPackageUrlType.get(type.toLowerCase()) ?? null;
}

/**
 * The ecosystem that an OSV record names, whose suffix after a colon tells a release or a registry: `Maven:https://…`.
 * Source: https://ossf.github.io/osv-schema/#affectedpackage-field
 * @returns null for one of none of the seven
 */
export function ecosystemOfOsvName(name: string): Ecosystem | null {
  const [beforeColon = ""] = name.split(":", 1);
  return byName.get(beforeColon) ?? null;
}
