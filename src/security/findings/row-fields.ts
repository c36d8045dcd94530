/** Fields that the rows of findings and of vulnerabilities have in common. */
import { Type } from "@sinclair/typebox";
import { ecosystemNames, type EcosystemName } from "./ecosystem-names.ts";

export const cvssScore = Type.Union([Type.Number(), Type.Null()], {
  description: "The CVSS score behind the severity, 0 to 10; null when there is none",
});
export const ecosystem = Type.Unsafe<EcosystemName | null>(
  Type.Union([...ecosystemNames.map((word) => Type.Literal(word)), Type.Null()], { description: "The component's ecosystem" }),
);
export const fixVersion = Type.Union([Type.String(), Type.Null()], {
  description: "The nearest version on the component's release line that is not affected; null when none is known",
});
