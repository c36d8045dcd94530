/**
 * Go: Semantic Versioning with a `v` before it, which OSV records leave out; pseudo-versions such as `v0.0.0-20200101…` are
 * prereleases, and `+incompatible` counts as little as any build. Source: https://go.dev/ref/mod#versions
 */
import type { ParsedVersion, VersionOrder } from "./version-order.ts";
import { semverOrder, parsedSemver } from "./semver.ts";

export const goOrder: VersionOrder = { read: readGo, padding: semverOrder.padding };

/** Releases of Go itself, the versions of its standard library and toolchain: https://go.dev/doc/toolchain#version */
const release = /^(?:go)?(\d+)\.(\d+)(?:\.(\d+)|(beta|rc)(\d+))?$/;

function readGo(text: string): ParsedVersion | null {
  const [, major, minor, patch = "0", stage, count] = release.exec(text) ?? [];
  if (major === undefined || minor === undefined) return semverOrder.read(text);
  return parsedSemver({ numbers: [major, minor, patch], label: stage === undefined ? undefined : `${stage}.${count}` });
}
