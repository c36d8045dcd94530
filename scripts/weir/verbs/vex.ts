import { writeFileSync } from "node:fs";
import { vexBytesMax } from "../../../src/security/findings/limits.ts";
import { CallError, readUpload } from "../call.ts";
import { columns } from "../print.ts";
import { text } from "../value.ts";
import { ofWorkspace, type Flag, type LocalAnswer, type Sending, type Verb } from "../verb.ts";

const project: Flag = { name: "project", field: "project", value: text, required: true, help: "id or exact name of the project" };

export const vexVerbs: readonly Verb[] = [
  {
    noun: "vex",
    verb: "export",
    summary: "Write the findings of a project and what was decided as a CycloneDX document (VEX)",
    flags: [
      ofWorkspace,
      project,
      { name: "output", field: "output", value: { ...text, placeholder: "FILE" }, help: "the file; default: standard output" },
    ],
    reads: "/vex",
    send: exportVex,
  },
  {
    noun: "vex",
    verb: "import",
    summary: "Take over the decisions of a CycloneDX document (VEX) about the findings of a project",
    operand: { field: "path", placeholder: "PATH", help: "the document in JSON; - reads it from standard input" },
    flags: [ofWorkspace, project],
    sends: "/vex",
    send: importVex,
  },
];

async function exportVex({ output, ...query }: Record<string, unknown>, { get }: Sending): Promise<LocalAnswer> {
  const body = await get("/vex", query);
  const document = JSON.stringify(body, null, 2);
  if (output === undefined) return { body, text: document, errors: [] };
  try {
    writeFileSync(String(output), `${document}\n`);
  } catch (error) {
    throw new CallError(`Cannot write "${String(output)}": ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  return { body: { output }, text: String(output), errors: [] };
}

async function importVex({ path, ...query }: Record<string, unknown>, { upload }: Sending): Promise<LocalAnswer> {
  const answer = await upload({ query, body: readUpload(String(path), vexBytesMax).body });
  const { unmatched_first: first, ...counts } = answer;
  const unmatched: { id: string; ref: string | null }[] = Array.isArray(first) ? first : [];
  return {
    body: answer,
    text: columns(Object.entries(counts).map(([name, count]) => [name, String(count)])),
    errors: unmatched.map(({ id, ref }) => `No finding: ${id}${ref === null ? "" : ` in ${ref}`}`),
  };
}
