/**
 * The ledger's absolute values, in the form that counters load: head, month totals, budgets and ended generations from one snapshot, with
 * the versions by which counters tell newer values from older ones. It also gives the ledger's position, which says whether counters may be
 * used (admission/worker/ledger-check.ts).
 */
import type { Queries } from "../../backing/backing.ts";
import type { AccountPush, BudgetTotal, KeyMonthPush } from "../../backing/counters.ts";
import type { Month } from "../../kernel/clock.ts";
import type { GenerationId, KeyId, WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import { ledgerVersion, selectAccount, selectKeyMonth, versionParts, selectPositions } from "./store.ts";

/** A hold lasts twenty minutes, so requests need only this month and the previous one. */
const monthsMax = 2;

export interface LoadedAccount {
  account: AccountPush;
  /** False while counters must not be loaded: the ledger has not been compared with them on this server yet, or is being rebuilt. */
  isReady: boolean;
  /** Absent: none. */
  budgets?: LoadedBudget[];
  /** The requested generations that have ended, with a row in `generations`. */
  ended: Set<GenerationId>;
}

/** A budget's latest total, and the callers whose requests count against it; null: all of the workspace. */
export interface LoadedBudget extends BudgetTotal {
  callers: KeyId[] | null;
}

/** Balance, sequence, totals and ended generations from one snapshot; null: there is no such workspace. */
export async function loadAccount(
  { workspace, generations }: { workspace: WorkspaceId; generations: GenerationId[] },
  sql: Queries,
): Promise<LoadedAccount | null> {
  const row = await selectAccount({ workspace, generations, monthsMax }, sql);
  if (!row) return null;
  const months = (row.months ?? []).map(({ month, spent }) => ({ month, spent: BigInt(spent) }));
  const budgets = row.budgets?.map(({ name, since, spent, callers }) => {
    return { name, since: Number(since), spent: BigInt(spent), callers };
  });
  return {
    ...(budgets && { budgets }),
    account: { workspace, balance: row.balance, sequence: ledgerVersion({ epoch: row.epoch, number: row.sequence }), months },
    isReady: row.isReady,
    ended: new Set(row.ended),
  };
}

/** A key's total of a month, with its version and the ledger's sequence at that moment; all are zero before the first charge. */
export async function readKeyMonth(
  { workspace, key, month }: { workspace: WorkspaceId; key: KeyId; month: Month },
  sql: Queries,
): Promise<KeyMonthPush> {
  const row = await selectKeyMonth({ workspace, key, month }, sql);
  const { spent, version, sequence, epoch } = { ...row, epoch: row?.epoch ?? 0n };
  const versionOf = (number: bigint | null = null): bigint => ledgerVersion({ epoch, number: number ?? 0n });
  return { workspace, key, month, spent: spent ?? 0n, version: versionOf(version), sequence: versionOf(sequence) };
}

// Positions: whether counters may be used

/** The position of a workspace in the counters. */
export interface CountedPosition {
  workspace: WorkspaceId;
  /** The version of the balance; null: they do not have the workspace. */
  version: bigint | null;
}

export interface LedgerPosition {
  /** The version of the ledger's head. */
  version: bigint;
  /** The balance after the entry that the counters' version names; null: this ledger has no such entry in that epoch. */
  balanceThen: NanoUsd | null;
  /** Where counters were last compared with it. "other": a standby was promoted, a backup restored, or the server restarted. */
  comparedOn: "this server" | "other" | "none";
  /** Settlements that the ledger lost are being booked again. */
  isRebuilding: boolean;
  /** Whether metering has looked on this server for settlements that the ledger may have lost. */
  isReplayed: boolean;
}

/** The ledger's position of each workspace; unknown workspaces are absent. */
export async function readPositions(
  counted: readonly CountedPosition[],
  sql: Queries,
): Promise<ReadonlyMap<WorkspaceId, LedgerPosition>> {
  const asked = counted.map(({ workspace, version }) => ({ workspace, ...(version === null ? nowhere : versionParts(version)) }));
  const rows = await selectPositions(asked, sql);
  return new Map(
    rows.map(({ workspace, epoch, sequence, ...rest }) => {
      return [workspace, { version: ledgerVersion({ epoch, number: sequence }), ...rest }];
    }),
  );
}

/** No ledger has it. */
const nowhere = { epoch: -1n, number: -1n };
