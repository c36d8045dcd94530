import type { Actor } from "../../accounts/audit/actor.ts";
import type { Queries } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";
import { selectCallerIds } from "../../accounts/keys/store.ts";
import { ownerSeenBy } from "../../accounts/workspaces/authorize.ts";
import { findCallers } from "./callers.ts";
import type { GenerationView } from "./schema.ts";
import { selectLog, selectLogOfKeys, selectWholeLog, type GenerationRow, type LogPage } from "./store.ts";
import { viewGeneration } from "./view.ts";

export interface LogFilter {
  /** null: all workspaces that the actor may see. */
  workspace: WorkspaceId | null;
  /** A key that the actor may see; null: any key. */
  key: KeyId | null;
  /** The email of a member, for their requests in the Workbench and those of all keys of theirs; null: any member. */
  member: string | null;
}

/** The request log, newest first: members see their own requests, overseers all requests. */
export async function listGenerations(
  { actor, filter: { workspace, key, member }, page }: { actor: Actor; filter: LogFilter; page: LogPage },
  { sql, clock }: { sql: Queries; clock: Pick<Clock, "now"> },
): Promise<GenerationView[]> {
  const seen = ownerSeenBy(actor);
  if (seen !== null && member !== null && member !== seen) return [];
  const owner = seen ?? member;
  const keys = key !== null ? [key] : owner !== null ? await selectCallerIds({ workspace, owner }, sql) : null;
  const select = (): Promise<GenerationRow[]> => {
    if (keys) return selectLogOfKeys({ keys, ...page }, sql);
    return workspace === null ? selectWholeLog(page, sql) : selectLog({ workspace, ...page }, clock.now(), sql);
  };
  const rows = await select();
  const people = await findCallers(rows, sql);
  return rows.map((row) => viewGeneration(row, people.get(row.key)));
}
