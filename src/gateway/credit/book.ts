import type { Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import { appendEntry, lockHead, selectEntry, type EntryKind } from "./store.ts";

interface Movement {
  workspace: WorkspaceId;
  kind: EntryKind;
  /** Below zero for what is taken back. */
  amount: NanoUsd;
  reference: string;
}

/**
 * Books a movement of a payment as the next entry of the workspace's chain, once for each kind and reference. Nothing limits the
 * balance: the money has moved already.
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
