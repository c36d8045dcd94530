/**
 * NuGet: up to four numbers, of which missing ones are zero; labels as in Semantic Versioning but without regard to case;
 * metadata behind a plus does not count. Source: https://learn.microsoft.com/nuget/concepts/package-versioning
 */
import type { ParsedVersion, VersionOrder } from "./version-order.ts";
import { semverOrder, parsedSemver } from "./semver.ts";

export const nugetOrder: VersionOrder = { read: readNuget, padding: semverOrder.padding };

const pattern = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:\.(\d+))?(?:-([\da-z-]+(?:\.[\da-z-]+)*))?(?:\+[\da-z.-]*)?$/;

function readNuget(text: string): ParsedVersion | null {
  const match = pattern.exec(text.trim().toLowerCase());
  if (match === null) return null;
  const [, major = "0", minor = "0", patch = "0", revision = "0", label] = match;
  return parsedSemver({ numbers: [major, minor, patch, revision], label });
}
