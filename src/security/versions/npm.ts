/**
 * npm: Semantic Versioning with the leniency of node's loose mode, in which a label needs no hyphen: `1.2.3beta`.
 * Source: https://github.com/npm/node-semver#versions
 */
import type { ParsedVersion, VersionOrder } from "./version-order.ts";
import { semverOrder } from "./semver.ts";

export const npmOrder: VersionOrder = { read: readNpm, padding: semverOrder.padding };

function readNpm(text: string): ParsedVersion | null {
  const version = text.trim().replace(/^[=v\s]+/, "");
  return semverOrder.read(version) ?? semverOrder.read(version.replace(/^(\d+\.\d+\.\d+)(?=[A-Za-z])/, "$1-"));
}
