/** pnpm's paths of packages: `/name/1.2.3_peers` in version 5, `/name@1.2.3(peers)` in 6, `name@1.2.3(peers)` in 9. */

/** @returns null for anything but a package of the registry, such as a folder or an address */
export function parsePnpmPath(path: string, major: number): { name: string; version: string } | null {
  const bare = path.replace(/^\//, "").replace(/\(.*$/s, "");
  const at = major === 5 ? bare.lastIndexOf("/") : bare.indexOf("@", 1);
  if (at <= 0) return null;
  const name = bare.slice(0, at);
  const version = major === 5 ? bare.slice(at + 1).replace(/_.*$/s, "") : bare.slice(at + 1);
  return /^\d/.test(version) && /^(?:@[^/@]+\/)?[^/@]+$/.test(name) ? { name, version } : null;
}

/** Possible paths of a dependency: its reference is already a path for aliases and other sources, else a version. */
export function pnpmPaths({ name, reference, major }: { name: string; reference: string; major: number }): string[] {
  if (reference.startsWith("link:")) return [];
  if (major === 5) return [`/${name}/${reference}`, reference];
  return major < 9 ? [`/${name}@${reference}`, reference] : [`${name}@${reference}`, reference];
}
