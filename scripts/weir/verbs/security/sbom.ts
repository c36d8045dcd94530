import { sbomBytesMax } from "../../../../src/security/limits.ts";
import { ofWorkspace } from "../../flags.ts";
import { text } from "../../value.ts";
import type { Verb } from "../../verb.ts";

export const sbomVerbs: readonly Verb[] = [
  {
    noun: "sbom",
    verb: "upload",
    summary: "Make an SBOM the current one of a project: CycloneDX 1.2 to 1.7, SPDX 2.2, 2.3 or 3.0",
    method: "POST",
    path: "/sboms",
    file: { field: "path", bytesMax: sbomBytesMax },
    operand: { field: "path", placeholder: "PATH", help: "the document; - reads it from standard input" },
    flags: [
      ofWorkspace,
      {
        name: "project",
        field: "project",
        value: text,
        required: true,
        help: "id or exact name of the project; a new name makes a new project",
      },
      { name: "product", field: "product", value: text, help: "id or exact name of the product to put the project into" },
    ],
  },
];
