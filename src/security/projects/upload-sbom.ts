import { Type } from "@sinclair/typebox";
import { nameCharactersMax } from "../../accounts/limits.ts";
import { sbomBytesMax, sbomFilenameCharactersMax, sbomStoreMs } from "../limits.ts";
import { lineOf } from "../api/operations/fields.ts";
import { DomainError } from "../../accounts/errors.ts";
import { operation } from "../api/operations/operation.ts";
import { StoredSbom } from "./schema.ts";
import { storeSbom } from "./store-sbom.ts";

const sbomField = Type.Union([Type.Object({}), Type.String()], {
  title: `The SBOM, of at most ${sbomBytesMax / 1024 / 1024} MiB: CycloneDX 1.2 to 1.7 in JSON or XML, SPDX 2.2 or 2.3 in JSON or tag-value, SPDX 3.0 in JSON-LD`,
  description: "an SBOM as a JSON object, or as a text",
});

export const uploadSbom = operation({
  title: "Upload an SBOM",
  description:
    "Stores an SBOM as the current one of a project, which is then scanned against all known advisories. A project or product with a new " +
    "name is created. Uploading the same SBOM again changes nothing.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  addition: true,
  takesSbom: true,
  deadlineMs: sbomStoreMs,
  input: Type.Object({
    sbom: sbomField,
    project: lineOf({ title: "Id or exact name of the project; a new name creates a project", min: 1, max: nameCharactersMax }),
    product: Type.Optional(
      lineOf({
        title: "Id or exact name of the product of the project; a new name creates a product",
        min: 1,
        max: nameCharactersMax,
      }),
    ),
    filename: Type.Optional(lineOf({ title: "Name of the file", min: 1, max: sbomFilenameCharactersMax })),
  }),
  data: StoredSbom,
  async handle({ input: { project, product = null, filename = null }, caller, sbom, parts }) {
    // A value that is neither an object nor a string was already refused as an invalid field.
    if (sbom === null)
      throw new DomainError("invalid_field", 'The field "sbom" cannot be read: an SBOM as a JSON object, or as a text is needed');
    if (sbom.refused !== null) throw new DomainError("invalid_field", sbom.refused);
    const request = { actor: caller.actor, workspace: caller.workspace, project, product, origin: null, filename };
    const stored = await storeSbom({ ...request, sbom: sbom.rows }, parts);
    return { data: stored, message: `${stored.components} components are stored; the scan is ${stored.scan_status}` };
  },
});
