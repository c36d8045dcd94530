/**
 * A workspace's credit is a chain of entries, each with the balance after it. An operator adds credit, once for each reference; payments,
 * refunds and disputes are booked as movements, once for each kind and reference; charges are written by metering. So a repeated call
 * changes nothing, and the chain explains every balance. No limit applies to a movement: the money has already moved, and the balance may
 * fall below zero.
 */
import { Type, type Static } from "@sinclair/typebox";
import { type Actor, authorize, operatorOnly } from "../../accounts/audit/actor.ts";
import { change, type Sources, changedFields } from "../../accounts/audit/change.ts";
import { DomainError } from "../../accounts/errors.ts";
import { balanceNanoMax, balanceUsdMax, nameCharactersMax } from "../../accounts/limits.ts";
import { createWorkspace } from "../../accounts/workspaces/workspaces.ts";
import { parseAmount, line, usd } from "../../accounts/workspaces/fields.ts";
import { type WorkspaceForm, WorkspaceView } from "../../accounts/workspaces/schema.ts";
import type { Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { formatUsd, type NanoUsd } from "../../kernel/money.ts";
import { appendEntry, lockHead, selectEntry, type LedgerHead, type EntryKind } from "./store.ts";

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

interface Movement {
  workspace: WorkspaceId;
  kind: EntryKind;
  /** Negative if it is taken back. */
  amount: NanoUsd;
  reference: string;
}

/**
 * Books a movement of a payment as the next entry of the workspace's chain, once for each kind and reference. No limit applies to the
 * balance: the money has already moved.
 * @returns whether this call booked it
 * @throws Error for an unknown workspace
 */
export async function bookMovement(movement: Movement, tx: Transaction): Promise<boolean> {
  const head = await lockHead(movement.workspace, tx);
  if (!head) throw new Error(`The workspace ${movement.workspace} has no ledger`);
  if ((await selectEntry(movement, tx)) !== undefined) return false;
  await appendEntry({ ...movement, balance: head.balance + movement.amount, sequence: head.sequence + 1n }, tx);
  return true;
}

/**
 * Creates a workspace, with its first credit if an amount is given, in one transaction.
 * @throws DomainError of either step
 */
export async function openWorkspace(
  { actor, form, ref }: { actor: Actor; form: WorkspaceForm; ref: string },
  sources: Omit<Sources, "sql"> & { sql: Transaction },
): Promise<WorkspaceId> {
  const usd = form.credit_usd;
  if (usd !== undefined) parseAmount({ field: "credit_usd", text: usd, decimalsMax: 9 });
  const { id } = await createWorkspace({ actor, name: form.name }, sources);
  if (usd !== undefined) await addCredit({ actor, workspace: id, credit: { usd, ref } }, sources);
  return id;
}

export const CreditForm = Type.Object({
  usd: usd("The amount added"),
  ref: line(`a reference of at most ${nameCharactersMax} characters`, {
    minLength: 1,
    title: "The payment's reference; it adds once, and is refused with another amount",
  }),
});
export type CreditForm = Static<typeof CreditForm>;

export const CreditView = Type.Pick(WorkspaceView, ["balance_usd", "reserved_usd", "available_usd"]);
export type CreditView = Static<typeof CreditView>;

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
