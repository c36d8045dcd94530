import type { Actor } from "../../accounts/audit/actor.ts";
import { change, type Sources } from "../../accounts/audit/change.ts";
import { changedFields } from "../../accounts/audit/changes.ts";
import type { Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { formatUsd, type NanoUsd } from "../../kernel/money.ts";
import { balanceNanoMax, balanceUsdMax } from "../../accounts/limits.ts";
import { authorize, operatorOnly } from "../../accounts/workspaces/authorize.ts";
import { DomainError } from "../../accounts/errors.ts";
import { parseAmount } from "../../accounts/workspaces/fields.ts";
import type { CreditForm } from "./schema.ts";
import { appendEntry, lockHead, selectEntry, type LedgerHead } from "./store.ts";

/**
 * Adds credit as the next entry of the workspace's chain. The same reference with the same amount adds once.
 * @returns the head of the chain, for the counters
 * @throws DomainError conflict when the reference exists with another amount, or the balance would exceed 9,000,000 USD
 */
export async function addCredit(
  { actor, workspace, credit }: { actor: Actor; workspace: WorkspaceId; credit: CreditForm },
  sources: Sources,
): Promise<LedgerHead> {
  authorize(actor, { roles: operatorOnly, action: "add credit" });
  const amount = parseAmount({ field: "usd", text: credit.usd, decimalsMax: 9 });
  const reference = credit.ref;
  return change(actor, sources, async (tx) => {
    const head = await lockHead(workspace, tx);
    if (!head) throw new DomainError("not_found", `There is no workspace "${workspace}"`, { field: "workspace" });
    if (await wasAdded({ workspace, amount, reference }, tx)) return { result: head, event: null };
    const next = { balance: head.balance + amount, sequence: head.sequence + 1n };
    if (next.balance > balanceNanoMax) {
      const message = `Cannot add ${formatUsd(amount)} USD: a balance holds at most ${balanceUsdMax} USD`;
      throw new DomainError("conflict", message, { field: "usd" });
    }
    await appendEntry({ workspace, kind: "credit", amount, reference, ...next }, tx);
    const changes = changedFields({ before: {}, after: { usd: formatUsd(amount) } });
    return { result: next, event: { event: "credit.added", workspace, target: reference, changes } };
  });
}

/** @throws DomainError conflict when the reference exists with another amount */
async function wasAdded(
  { workspace, amount, reference }: { workspace: WorkspaceId; amount: NanoUsd; reference: string },
  tx: Transaction,
): Promise<boolean> {
  const before = await selectEntry({ workspace, kind: "credit", reference }, tx);
  if (before === undefined || before === amount) return before === amount;
  const message = `Cannot add ${formatUsd(amount)} USD: "${reference}" has added ${formatUsd(before)} USD already`;
  throw new DomainError("conflict", message, { field: "ref" });
}
