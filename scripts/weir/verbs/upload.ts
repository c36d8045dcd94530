import { DomainError } from "../../../src/accounts/errors.ts";
import { sbomBytesMax } from "../../../src/security/limits.ts";
import { readUpload, CallError } from "../call.ts";
import { passGate, readGate, gateFlags } from "../gate.ts";
import { packedRepository, type PackedRepository } from "../packed-repository.ts";
import { columns } from "../print.ts";
import { text } from "../value.ts";
import { ofWorkspace, type LocalAnswer, type Sending, type Verb } from "../verb.ts";

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

export const repositoryVerbs: readonly Verb[] = [
  {
    noun: "repository",
    verb: "import",
    summary: "Make the lock files of a repository the current SBOM of a project; only a folder's lock files are sent",
    operand: {
      field: "source",
      placeholder: "PATH|URL",
      help: "a checkout or another folder, an archive (zip, tar, tar.gz), or an address at GitHub or GitLab",
    },
    flags: [
      ofWorkspace,
      {
        name: "project",
        field: "project",
        value: text,
        help: "id or exact name of the project; a new name makes a new project; default: the repository's name",
      },
      ...gateFlags,
    ],
    sends: "/repositories",
    uploads: "/repositories/archive",
    send: importRepository,
  },
];

async function importRepository(fields: Record<string, unknown>, sending: Sending): Promise<LocalAnswer> {
  const { gate, rest } = readGate(fields);
  const { source, ...form } = rest;
  const answer = answered(await storeRepository(String(source), form, sending));
  if (gate === null) return answer;
  const { workspace } = form;
  const project = String(answer.body["project_id"]);
  const gated = await passGate({ ...gate, workspace, project, stored: answer.body, path: firstLockFile(answer.body) }, sending);
  return { ...gated, errors: [...answer.errors, ...gated.errors] };
}

async function storeRepository(
  given: string,
  rest: Record<string, unknown>,
  { post, upload }: Sending,
): Promise<Record<string, unknown>> {
  if (/^(?:https?:\/\/|ssh:\/\/|git@)/.test(given)) return post({ ...rest, url: given });
  const { body, name, provider, repository } = await packed(given);
  const query = { ...rest, name, provider, ...(repository !== null && { repository }) };
  return upload({ query, body });
}

function firstLockFile(body: Record<string, unknown>): string | null {
  return importedOf(body).lock_files[0]?.path ?? null;
}

/** @throws CallError */
async function packed(path: string): Promise<PackedRepository> {
  try {
    return await packedRepository(path);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new CallError(error.message, { cause: error });
  }
}

interface Imported {
  project: string;
  project_id: string;
  scan_status: string;
  lock_files: { path: string; packages: number; not_pinned: number }[];
  not_read: { path: string; reason: string }[];
}

function answered(body: Record<string, unknown>): LocalAnswer {
  const { project, project_id, scan_status, lock_files, not_read } = importedOf(body);
  const files = lock_files.map(({ path, packages, not_pinned }) => {
    const unpinned = not_pinned === 0 ? "" : `, ${not_pinned} not pinned`;
    return `${path}: ${packages} packages${unpinned}`;
  });
  return {
    body,
    text: [`Project ${project} (${project_id}), scan ${scan_status}`, ...files].join("\n"),
    errors: not_read.map(({ path, reason }) => `Not read: ${path} ${reason}`),
  };
}

/** The control API's document states that its answer has these fields. */
function importedOf(body: Record<string, unknown>): Imported {
  return body as unknown as Imported;
}
