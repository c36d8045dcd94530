import { sbomBytesMax } from "../../../../src/security/limits.ts";
import { readUpload } from "../../call.ts";
import { passGate, readGate, gateFlags } from "../../findings/gate.ts";
import { ofWorkspace } from "../../flags.ts";
import { columns } from "../../print.ts";
import { text } from "../../value.ts";
import type { LocalAnswer, Sending, Verb } from "../../verb.ts";

export const sbomVerbs: readonly Verb[] = [
  {
    noun: "sbom",
    verb: "upload",
    summary: "Make an SBOM the current one of a project: CycloneDX 1.2 to 1.7, SPDX 2.2, 2.3 or 3.0",
    sends: "/sboms",
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
      ...gateFlags,
    ],
    send: uploadSbom,
  },
];

async function uploadSbom(fields: Record<string, unknown>, sending: Sending): Promise<LocalAnswer> {
  const { gate, rest } = readGate(fields);
  const { path: given, ...query } = rest;
  const path = String(given);
  const { body, filename } = readUpload(path, sbomBytesMax);
  const stored = await sending.upload({ query: { ...query, ...(filename !== null && { filename }) }, body });
  if (gate === null) {
    return { body: stored, text: columns(Object.entries(stored).map(([name, value]) => [name, String(value)])), errors: [] };
  }
  const { workspace } = query;
  const project = String(stored["project_id"]);
  return passGate({ ...gate, workspace, project, stored, path: filename === null ? null : path }, sending);
}
