import type { Actor } from "../../accounts/audit/actor.ts";
import { DomainError } from "../../accounts/errors.ts";
import { authorize, overseers } from "../../accounts/workspaces/authorize.ts";
import type { Queries } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { formatUsd } from "../../kernel/money.ts";
import { selectRefundsOf, type RefundRow } from "./refunds-store.ts";
import type { TopUpView } from "./schema.ts";
import { selectTopUp, selectTopUps, type TopUpRow } from "./store.ts";

export function noTopUp(id: string): DomainError {
  return new DomainError("not_found", `There is no top-up with the id "${id}"`, { field: "id" });
}

/** @param workspace null: of any @throws DomainError not_found also for another workspace's, so that existing ones stay hidden */
export async function findTopUp(
  { id, workspace }: { id: string; workspace: WorkspaceId | null },
  sql: Queries,
): Promise<TopUpRow> {
  const row = await selectTopUp(id, sql);
  if (!row || (workspace !== null && row.workspace !== workspace)) throw noTopUp(id);
  return row;
}

/** @throws DomainError not_found */
export async function showTopUp({ id, workspace }: { id: string; workspace: WorkspaceId }, sql: Queries): Promise<TopUpView> {
  return viewTopUp(await findTopUp({ id, workspace }, sql), await selectRefundsOf([id], sql));
}

interface Listing {
  actor: Actor;
  workspace: WorkspaceId;
  before: string | null;
  limit: number;
}

/** Newest first. @throws DomainError forbidden for members, who do not see what the workspace pays */
export async function listTopUps({ actor, ...filter }: Listing, sql: Queries): Promise<TopUpView[]> {
  authorizeToSee(actor);
  const rows = await selectTopUps(filter, sql);
  const refunds = await selectRefundsOf(
    rows.map(({ id }) => id),
    sql,
  );
  const byTopUp = Map.groupBy(refunds, ({ topUp }) => topUp);
  return rows.map((row) => viewTopUp(row, byTopUp.get(row.id) ?? []));
}

/** @throws DomainError forbidden */
export function authorizeToSee(actor: Actor): void {
  authorize(actor, { roles: overseers, action: "see top-ups" });
}

export function viewTopUp(row: TopUpRow, refunds: readonly RefundRow[]): TopUpView {
  const time = (at: Date | null): string | null => at && isoTime(at.getTime());
  const isOpen = row.state === "open" || row.state === "action_required";
  return {
    id: row.id,
    workspace_id: row.workspace,
    kind: row.kind,
    state: row.state,
    amount_usd: formatUsd(row.amount),
    received_usd: formatUsd(row.received),
    refunded_usd: formatUsd(row.refunded),
    disputed_usd: formatUsd(row.disputed),
    url: isOpen ? row.sessionUrl : null,
    failure: row.failure,
    retry_at: time(row.retryAt),
    payment_intent: row.paymentIntent,
    made_by: row.madeBy,
    created_at: isoTime(row.createdAt.getTime()),
    ended_at: time(row.endedAt),
    refunds: refunds.map(({ id, amount, state, madeBy, createdAt }) => ({
      id,
      usd: formatUsd(amount),
      state,
      made_by: madeBy,
      at: isoTime(createdAt.getTime()),
    })),
  };
}
