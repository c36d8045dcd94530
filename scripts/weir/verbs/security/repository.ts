import { DomainError } from "../../../../src/accounts/errors.ts";
import { CallError } from "../../call.ts";
import { gateFlags, passGate, readGate } from "../../findings/gate.ts";
import { ofWorkspace } from "../../flags.ts";
import { packedRepository, type PackedRepository } from "../../upload/packed-repository.ts";
import { text } from "../../value.ts";
import type { LocalAnswer, Sending, Verb } from "../../verb.ts";

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
