/** Fields of an upgrade in answers. */
import { Type } from "@sinclair/typebox";

const wordOrNull = (words: readonly string[], description: string) =>
  Type.Union([...words.map((word) => Type.Literal(word)), Type.Null()], { description });

export const upgradeStepFields = {
  step: wordOrNull(
    ["patch", "minor", "major"],
    "The size of the upgrade: patch (the same major.minor), minor (the same major version) or major (another major version)",
  ),
  distance: wordOrNull(
    ["line", "major", "beyond"],
    "Deprecated, use step: line for patch, major for minor, beyond for major. Until 2026-11-26 these were the values of step",
  ),
};
