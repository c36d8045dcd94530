/**
 * The seven ecosystems by their names in OSV records, their package URL types, and how each compares package names.
 *
 * PyPI ignores case and treats runs of `-`, `_`, `.` as one `-` (https://peps.python.org/pep-0503/#normalized-names). NuGet ignores case
 * (https://learn.microsoft.com/nuget/reference/nuspec#id). Maven, Go, RubyGems, crates.io and npm are case-sensitive; npm keeps old names
 * with capitals. The canonical package URL of a Go module loses the case. So a component is the module that its URL spells or, if the URL
 * is all lower case, the one that its displayed name spells. Records with that spelling count; records with other capitalization count only
 * if there are none.
 */
import type { PackageUrl } from "./package-url.ts";

/** Weir compares versions of these ecosystems; for others it keeps and shows what records say. */
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

export interface PackageName {
  ecosystem: Ecosystem;
  /** As in OSV records: `@scope/name`, `group:artifact`, or a module path. */
  name: string;
}

/**
 * The key that all spellings of a package name share. Packages of an ecosystem are found and compared by it. Records about Go modules are
 * looked up by the database's `package_records`.
 */
export function packageKey({ ecosystem, name }: PackageName): string {
  if (ecosystem === "PyPI") return name.replaceAll(/[-_.]+/g, "-").toLowerCase();
  if (ecosystem === "NuGet") return name.toLowerCase();
  return name;
}

/** The same for all spellings of one package: `npm lodash`. */
export function packageIdentity(name: PackageName): string {
  return `${name.ecosystem} ${packageKey(name)}`;
}

/**
 * @param shown the component's name, which gives a Go module's spelling if the package URL is all lower case, and the end of its path
 * @returns null for a type outside the seven ecosystems
 */
export function packageNameOf(url: PackageUrl, shown: string | null = null): PackageName | null {
  const { type, namespace, name } = url;
  const ecosystem = ecosystemOfPackageUrlType(type);
  if (ecosystem === null) return null;
  if (ecosystem === "Maven") return { ecosystem, name: `${namespace ?? ""}:${name}` };
  // Tools for Go modules call the standard library `std`, like the go command; OSV records call it `stdlib`.
  if (ecosystem === "Go" && namespace === null && name === "std") return { ecosystem, name: "stdlib" };
  const path = namespace === null ? name : `${namespace}/${name}`;
  return { ecosystem, name: ecosystem === "Go" ? modulePathOf(path, url, shown) : path };
}

/**
 * From version 2 on, a module's path ends in its major version (https://go.dev/ref/mod#major-version-suffixes). Syft until 1.38 left only
 * three segments in the path of the package URL and wrote the others as its subpath; the component's name has the whole path. Any other
 * subpath is a folder of the module.
 */
function modulePathOf(path: string, { version, subpath }: PackageUrl, shown: string | null): string {
  const major = /^v?(\d+)\.(?!.*\+incompatible$)/.exec(version ?? "")?.[1];
  const whole = subpath === null ? null : throughMajor(path, subpath, major);
  const longer = shown !== null && shown.toLowerCase().startsWith(`${path.toLowerCase()}/`) ? shown.slice(path.length + 1) : null;
  const module = whole ?? (longer === null ? null : throughMajor(path, longer, major)) ?? path;
  return module === module.toLowerCase() && shown?.toLowerCase() === module ? shown : module;
}

/** The path through the segment of this major version; null: the rest has none, and from version 2 on every module has one. */
function throughMajor(path: string, rest: string, major: string | undefined): string | null {
  const segments = rest.split("/");
  const at = major === undefined || Number(major) < 2 ? -1 : segments.lastIndexOf(`v${major}`);
  return at === -1 ? null : [path, ...segments.slice(0, at + 1)].join("/");
}
