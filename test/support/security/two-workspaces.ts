/** A stage with projects in it, and the tools key of somebody in another workspace, who is to see none of them. */
import type { TestDatabase } from "../servers/databases.ts";
import { bomJson } from "./sbom-documents.ts";
import { SecurityWorld } from "./security-world.ts";
import { toolsStage, type ToolsStage } from "./tools-api.ts";

export interface TwoWorkspaces extends ToolsStage {
  world: SecurityWorld;
  /** A tools key of the other workspace. */
  theirs: string;
  /** Uploads a small document; each number gives other bytes. */
  upload(project: string, more?: Record<string, unknown>, number?: number): Promise<Record<string, unknown>>;
}

export async function twoWorkspaces(open: () => Promise<TestDatabase>): Promise<TwoWorkspaces> {
  const stage = await toolsStage(open);
  await stage.control.workspace("other");
  const theirs = (await stage.control.key("other", { kind: "tools" })).key;
  return {
    ...stage,
    theirs,
    world: SecurityWorld.on(stage),
    upload: (project, more = {}, number = 1) =>
      stage.api.data("upload_sbom", { sbom: { ...bomJson("1.5"), version: number }, project, ...more }),
  };
}
