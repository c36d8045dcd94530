/** The ledger's absolute values, as the counters take them. */
import type { Queries } from "../../backing/backing.ts";
import type { AccountPush, KeyMonthPush } from "../../backing/counters.ts";
import type { Month } from "../../kernel/clock.ts";
import type { GenerationId, KeyId, WorkspaceId } from "../../kernel/ids.ts";
import { selectAccount, selectHeads, selectKeyMonth } from "./store.ts";

/** A hold lives twenty minutes, so only this month and the one before are still asked about. */
const monthsMax = 2;

export interface LoadedAccount {
  account: AccountPush;
  /** Those of the generations asked for that ended: they have their row in `charges`. */
  ended: Set<GenerationId>;
}

/** Balance, sequence, month totals and ended generations of one snapshot; null: there is no such workspace. */
export async function loadAccount(
  { workspace, generations }: { workspace: WorkspaceId; generations: GenerationId[] },
  sql: Queries,
): Promise<LoadedAccount | null> {
  const row = await selectAccount({ workspace, generations, monthsMax }, sql);
  if (!row) return null;
  const months = (row.months ?? []).map(({ month, spent }) => ({ month, spent: BigInt(spent) }));
  return {
    account: { workspace, balance: row.balance, sequence: row.sequence, months },
    ended: new Set(row.ended),
  };
}

/** What a key was charged in a month, with its version and the head of the ledger at that moment; zero and version zero before the first charge. */
export async function loadKeyMonth(
  { workspace, key, month }: { workspace: WorkspaceId; key: KeyId; month: Month },
  sql: Queries,
): Promise<KeyMonthPush> {
  const row = await selectKeyMonth({ workspace, key, month }, sql);
  return { workspace, key, month, spent: row?.spent ?? 0n, version: row?.version ?? 0n, sequence: row?.sequence ?? 0n };
}

/** How far each ledger is; those that there are not are missing. */
export async function loadHeads(workspaces: readonly WorkspaceId[], sql: Queries): Promise<ReadonlyMap<WorkspaceId, bigint>> {
  return new Map((await selectHeads(workspaces, sql)).map(({ workspace, sequence }) => [workspace, sequence]));
}
