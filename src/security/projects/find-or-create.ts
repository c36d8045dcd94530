import type { AuditEvent } from "../../accounts/audit/change.ts";
import type { Transaction } from "../../backing/backing.ts";
import { newToolsId, type WorkspaceId } from "../../kernel/ids.ts";
import { referenceTo, resourceCreated, resourceNotFound } from "../resources/resource.ts";
import { insertProject, lockProject, type ProjectRow } from "./store.ts";

interface NamedProject {
  workspace: WorkspaceId;
  /** Its id, or its exact name. A project with a new name is created. */
  project: string;
  at: Date;
}

export interface FoundProject {
  /** Locked until the transaction ends. */
  project: ProjectRow;
  /** The event of the creation; empty when the project existed. */
  events: AuditEvent[];
}

/** @throws DomainError not_found for an id that the workspace does not have */
export async function findOrCreateProject({ workspace, project, at }: NamedProject, tx: Transaction): Promise<FoundProject> {
  const reference = referenceTo("project", project);
  if ("id" in reference) {
    const row = await lockProject({ workspace, ...reference }, tx);
    if (!row) throw resourceNotFound("project", reference);
    return { project: row, events: [] };
  }
  const id = newToolsId("prj", at.getTime());
  // If another transaction is creating the project, this statement waits for it, and the next one sees the project.
  const made = await insertProject({ id, workspace, name: project, provider: "upload", at }, tx);
  const row = await lockProject({ workspace, name: project }, tx);
  if (!row) throw new Error(`The project "${project}" exists and cannot be found`);
  return { project: row, events: made ? [resourceCreated("project", { workspace, id, name: project })] : [] };
}
