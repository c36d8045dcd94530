/** Fields that rows of findings and of vulnerabilities share. */
import { Type } from "@sinclair/typebox";
import { ecosystemNames, type EcosystemName } from "./ecosystem-names.ts";

export const cvssScore = Type.Union([Type.Number(), Type.Null()], {
  description: "The CVSS score that the severity is of, 0 to 10; null where there is none",
});
export const ecosystem = Type.Unsafe<EcosystemName | null>(
  Type.Union([...ecosystemNames.map((word) => Type.Literal(word)), Type.Null()], { description: "The component's ecosystem" }),
);
export const fixVersion = Type.Union([Type.String(), Type.Null()], {
  description: "The nearest version on the component's release line that is not affected; null where none is known",
});
