/** The packages of an SBOM that advisories are about, in groups. */
import type { Queries } from "../../../backing/backing.ts";
import { scanComponentsMax, scanPackagesMax, scanPositionsMax } from "../../limits.ts";
import { countPositions, selectPackagesWithRecords } from "./scan-store.ts";

/**
 * Groups in the order of the package ids. A group has few components, unless a single package has more.
 * @param from the first package; null: all packages
 */
export async function packagesToMatch({ sbom, from }: { sbom: string; from: bigint | null }, sql: Queries): Promise<bigint[][]> {
  const components = new Map<bigint, number>();
  const positions = await countPositions(sbom, sql);
  for (let at = 0; at < positions; at += scanPositionsMax) {
    const some = await selectPackagesWithRecords({ sbom, from: at, positions: scanPositionsMax, least: from }, sql);
    for (const { id, components: more } of some) components.set(id, (components.get(id) ?? 0) + more);
  }
  const packages = [...components.keys()].toSorted((a, b) => (a < b ? -1 : 1));
  return groupsOf(packages, components);
}

function groupsOf(packages: readonly bigint[], components: ReadonlyMap<bigint, number>): bigint[][] {
  const groups: bigint[][] = [];
  let size = 0;
  for (const id of packages) {
    const own = components.get(id) ?? 0;
    const group = groups.at(-1);
    if (group === undefined || group.length === scanPackagesMax || size + own > scanComponentsMax) {
      groups.push([id]);
      size = own;
    } else {
      group.push(id);
      size += own;
    }
  }
  return groups;
}
