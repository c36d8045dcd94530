import type { Queries } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { referenceTo, requireResource, resourceNotFound } from "../resources/resource.ts";
import { selectProjectIdByName } from "./store.ts";

/**
 * @param project its id, or its exact name
 * @returns its id
 * @throws DomainError not_found
 */
export async function requireProject(
  { workspace, project }: { workspace: WorkspaceId; project: string },
  sql: Queries,
): Promise<string> {
  const reference = referenceTo("project", project);
  if ("id" in reference) {
    await requireResource("project", { workspace, ...reference }, sql);
    return reference.id;
  }
  const id = await selectProjectIdByName({ workspace, ...reference }, sql);
  if (id === undefined) throw resourceNotFound("project", reference);
  return id;
}
