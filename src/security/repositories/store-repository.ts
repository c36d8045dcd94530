/** Stores a repository's lock files as the current document of its project. */
import type { Actor } from "../../accounts/audit/actor.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { storeSbom, type SbomStoreParts } from "../projects/store-sbom.ts";
import type { SbomReader } from "../sboms/reader/reader.ts";
import type { RepositoryFiles } from "./collected-files.ts";
import { readInSubprocess } from "./read-in-subprocess.ts";
import type { ImportedRepository } from "./schema.ts";

export interface RepositoryImport {
  actor: Actor;
  workspace: WorkspaceId;
  /** Id or exact name; null names the project after the repository. */
  project: string | null;
  /** Of the repository. */
  name: string;
  origin: { provider: "git" | "archive" | "github" | "gitlab"; repository: string | null };
  found: RepositoryFiles;
}

/**
 * The same lock files again change nothing.
 * @throws DomainError if no lock file can be read, or the document cannot be stored
 */
export async function storeRepository(
  request: RepositoryImport,
  parts: SbomStoreParts & { sboms: SbomReader },
): Promise<ImportedRepository> {
  const { actor, workspace, name, origin, found } = request;
  const project = request.project ?? name;
  const { sbom, lockFiles, notRead, notPinned } = await readInSubprocess({ name, found }, { sboms: parts.sboms, workspace });
  const stored = await storeSbom({ actor, workspace, project, product: null, origin, filename: null, sbom }, parts);
  return { ...stored, project, ...origin, lock_files: lockFiles, not_read: notRead, not_pinned: notPinned };
}
