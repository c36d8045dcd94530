/** The supported versions of each format. */
import type { JsonValue } from "./json/value.ts";
import { SbomRefusal } from "./refusal.ts";

/** @returns 2 to 7. @throws SbomRefusal unsupported_version */
export function cyclonedxMinor(specVersion: JsonValue | undefined): number {
  const minor = typeof specVersion === "string" ? /^1\.([2-7])$/.exec(specVersion)?.[1] : undefined;
  if (minor !== undefined) return Number(minor);
  throw unsupportedVersion("CycloneDX", { written: specVersion, read: "1.2 to 1.7" });
}

/** @returns 2 or 3. @throws SbomRefusal unsupported_version */
export function spdx2Minor(spdxVersion: JsonValue | undefined): number {
  const minor = typeof spdxVersion === "string" ? /^SPDX-2\.([23])$/.exec(spdxVersion)?.[1] : undefined;
  if (minor !== undefined) return Number(minor);
  throw unsupportedVersion("SPDX", { written: spdxVersion, read: "2.2, 2.3 and 3.0" });
}

/** @throws always */
export function unsupportedVersion(
  format: string,
  { written, read }: { written: JsonValue | undefined; read: string },
): SbomRefusal {
  const shown = written === undefined ? "without a version" : `version ${JSON.stringify(written).slice(0, 50)}`;
  return new SbomRefusal(
    "unsupported_version",
    `The document is ${format}, ${shown}; versions ${read} are read, so export it as one of these`,
  );
}
