import type { Actor } from "../../accounts/audit/actor.ts";
import { authorize, overseers } from "../../accounts/workspaces/authorize.ts";
import type { Queries } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { promptsCountedMax } from "./limits.ts";
import type { PromptCount } from "./schema.ts";
import { countPrompts } from "./store.ts";

/**
 * How many prompts a workspace stores, and since when.
 * @throws DomainError forbidden, except for auditors, admins, super admins and the operator
 */
export async function countStoredPrompts(
  { actor, workspace }: { actor: Actor; workspace: WorkspaceId },
  sql: Queries,
): Promise<PromptCount> {
  authorize(actor, { roles: overseers, action: "count stored prompts" });
  const { count, oldestAt } = await countPrompts({ workspace, max: promptsCountedMax + 1 }, sql);
  return {
    count: Math.min(count, promptsCountedMax),
    more: count > promptsCountedMax,
    oldest_at: oldestAt && isoTime(oldestAt.getTime()),
  };
}
