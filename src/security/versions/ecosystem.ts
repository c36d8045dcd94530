/** The seven supported ecosystems, by the names in OSV records. */

export const ecosystems = ["npm", "PyPI", "Maven", "Go", "crates.io", "RubyGems", "NuGet"] as const;

export type Ecosystem = (typeof ecosystems)[number];

/** The package URL type of each ecosystem: https://github.com/package-url/purl-spec/tree/main/types */
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

/** @returns null for any other type */
export function ecosystemOfPackageUrlType(type: string): Ecosystem | null {
  return byPackageUrlType.get(type.toLowerCase()) ?? null;
}

/**
 * The ecosystem that an OSV record names, without the suffix for a release or a registry: `Maven:https://…`.
 * Source: https://ossf.github.io/osv-schema/#affectedpackage-field
 * @returns null for any other ecosystem
 */
export function ecosystemOfOsvName(name: string): Ecosystem | null {
  const [beforeColon = ""] = name.split(":", 1);
  return byName.get(beforeColon) ?? null;
}
