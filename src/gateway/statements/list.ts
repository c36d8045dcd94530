import type { Actor } from "../../accounts/audit/actor.ts";
import { ownerSeenBy } from "../../accounts/workspaces/authorize.ts";
import type { Database } from "../../backing/backing.ts";
import { isoTime, type Clock, type Month } from "../../kernel/clock.ts";
import { formatUsd } from "../../kernel/money.ts";
import { requireStatements, type StatementWorkspace } from "./feature.ts";
import { sumOpen } from "./open.ts";
import type { StatementList, StatementRow } from "./schema.ts";
import { selectSumsOf, type StatementSums } from "./statements-store.ts";

/**
 * Newest first, the open one before all others. Members see months without amounts, which are the workspace's.
 * @param before only months before this one; null: from the open one
 * @throws DomainError not_found where statements are off
 */
export async function listStatements(
  { actor, workspace, before, limit }: { actor: Actor; workspace: StatementWorkspace; before: Month | null; limit: number },
  { sql, clock }: { sql: Database; clock: Clock },
): Promise<StatementList> {
  requireStatements(workspace);
  const seesAmounts = ownerSeenBy(actor) === null;
  const stored = await selectSumsOf({ workspace: workspace.id, before, limit: limit + 1 }, sql);
  const closed = stored.slice(0, limit).map(({ closedAt, sha256, ...sums }): StatementRow => ({
    number: sums.number,
    closed: true,
    closed_at: isoTime(closedAt.getTime()),
    ...(seesAmounts && { ...amounts(sums), sha256 }),
  }));
  const next = stored.length > limit ? (closed.at(-1)?.number ?? null) : null;
  if (before !== null) return { data: closed, next };
  const { id, name } = workspace;
  const open = await sumOpen({ workspace: { id, name }, nowMs: clock.now() }, sql);
  const first: StatementRow = {
    number: open.number,
    closed: false,
    closed_at: null,
    ...(seesAmounts && { ...amounts(open), sha256: null }),
  };
  return { data: [first, ...closed], next };
}

function amounts({ opening, credits, refunds, charges, closing }: StatementSums): Partial<StatementRow> {
  return {
    opening_balance_usd: formatUsd(opening),
    credits_usd: formatUsd(credits),
    refunds_usd: formatUsd(refunds),
    charges_usd: formatUsd(charges),
    closing_balance_usd: formatUsd(closing),
  };
}
