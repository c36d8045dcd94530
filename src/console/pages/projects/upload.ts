/** Uploading an SBOM from a form. */
import { DomainError } from "../../../accounts/errors.ts";
import { sbomBytesMax, sbomFilenameCharactersMax } from "../../../security/limits.ts";
import type { StoredSbom } from "../../../security/projects/schema.ts";
import type { FormFields } from "../../form.ts";
import type { Field } from "../../look/forms/field.ts";
import type { PageCall } from "../../page.ts";

/** A form with a file has its other fields and their headings around it. */
export const uploadBytesMax = sbomBytesMax + 64 * 1024;

export const sbomField: Field = {
  kind: "file",
  name: "file",
  label: "SBOM",
  hint: `CycloneDX 1.2 to 1.7, or SPDX 2.2, 2.3 or 3.0, of at most ${sbomBytesMax / 1024 / 1024} MiB.`,
  required: true,
  accept: ".json,.xml,.spdx,.tag,.cdx,application/json,application/xml,text/plain",
};

/** @throws DomainError for a missing file, and as the control API does */
export async function uploadSbom(
  call: PageCall,
  typed: FormFields,
  named: { project: string; product?: string },
): Promise<StoredSbom> {
  const file = typed.file("file");
  if (file === null) throw new DomainError("invalid_field", "Choose a file", { field: "file" });
  const filename = file.name.replaceAll(/\p{Cc}/gu, "").slice(-sbomFilenameCharactersMax);
  try {
    return await call.control<StoredSbom>("POST", "/sboms", { ...named, ...(filename !== "" && { filename }) }, file.bytes);
  } catch (error) {
    if (error instanceof DomainError && error.code === "invalid_body")
      throw new DomainError("invalid_field", error.message, { field: "file" });
    throw error;
  }
}

export function uploadedWords({ components, scan_status: scan }: StoredSbom): string {
  const waits =
    scan === "completed" || scan === "not_comparable"
      ? "It is the same as before, so nothing is scanned anew."
      : "Its scan has begun.";
  return `The SBOM with ${components.toLocaleString("en-US")} ${components === 1 ? "component" : "components"} is stored. ${waits}`;
}
