/** Where each workspace's ledger is, beside where its counters are: whether the counters may be used. */
import type { Queries } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import { ledgerVersion, versionParts } from "./ledger-version.ts";
import { selectPositions } from "./positions-store.ts";

/** What counters have of a workspace. */
export interface CountedPosition {
  workspace: WorkspaceId;
  /** Of the balance; null: they do not have the workspace. */
  version: bigint | null;
}

export interface LedgerPosition {
  /** Of the head. */
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
