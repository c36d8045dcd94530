import type { Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { projectsPerWorkspaceMax } from "../limits.ts";
import { quotaFull } from "../../accounts/quotas/full.ts";
import { lockQuota } from "../../accounts/quotas/store.ts";
import { countAllProjects } from "./store.ts";

/** After a new one's row is written, last in its transaction, for others wait meanwhile. @throws DomainError conflict */
export async function requireProjectQuota(workspace: WorkspaceId, tx: Transaction): Promise<void> {
  await lockQuota({ workspace, counted: "projects" }, tx);
  if ((await countAllProjects(workspace, tx)) <= projectsPerWorkspaceMax) return;
  throw quotaFull({ what: "projects", max: projectsPerWorkspaceMax, limit: "projectsPerWorkspaceMax" }, "project");
}
