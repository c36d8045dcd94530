/** All SQL of epochs: see migration 0036. */
import { arrayText } from "../../backing/array-text.ts";
import type { Queries } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";

export interface AskedPosition {
  workspace: WorkspaceId;
  /** The epoch and sequence that counters have. */
  epoch: bigint;
  number: bigint;
}

export interface PositionRow {
  workspace: WorkspaceId;
  epoch: bigint;
  sequence: bigint;
  balanceThen: NanoUsd | null;
  comparedOn: "this server" | "other" | "none";
  isRebuilding: boolean;
  isReplayed: boolean;
}

/** Unknown workspaces are absent. A ledger without entries has a balance of zero after none. */
export function selectPositions(asked: readonly AskedPosition[], sql: Queries): Promise<PositionRow[]> {
  return sql<PositionRow[]>`
    SELECT workspace_id AS workspace, account.epoch, account.sequence, is_rebuilding AS "isRebuilding",
      EXISTS (SELECT FROM ledger_replays AS replay WHERE replay.server = ledger_server()) AS "isReplayed",
      CASE account.server WHEN 0 THEN 'none' WHEN ledger_server() THEN 'this server' ELSE 'other' END AS "comparedOn",
      CASE
        WHEN asked.epoch <> account.epoch THEN NULL
        WHEN asked.number = 0 THEN 0::bigint
        ELSE (SELECT balance_after_nano FROM ledger_entries AS entry
          WHERE entry.workspace_id = account.workspace_id AND entry.sequence = asked.number)
      END AS "balanceThen"
    FROM unnest(
      ${arrayText(asked, ({ workspace }) => workspace)}::text[], ${arrayText(asked, ({ epoch }) => epoch)}::bigint[],
      ${arrayText(asked, ({ number }) => number)}::bigint[]) AS asked (workspace, epoch, number)
    JOIN credit_accounts AS account ON account.workspace_id = asked.workspace`;
}

/** The number of the server that answers. */
export async function selectServer(sql: Queries): Promise<bigint> {
  const [row] = await sql<{ server: bigint }[]>`SELECT ledger_server() AS server`;
  return row?.server ?? 0n;
}

export interface EpochStart {
  workspace: WorkspaceId;
  /** The epoch that was read: if another process began one meanwhile, nothing happens. */
  after: bigint;
  /** The epoch that begins; the same one where the workspace is only bound to this server. */
  epoch: bigint;
  /** Whether settlements must be booked again before counters are loaded. */
  isRebuilding: boolean;
}

/** Begins epochs. Settlements wait meanwhile, and versions that were read before are older. @returns the workspaces whose epoch began */
export async function beginEpochs(starts: readonly EpochStart[], sql: Queries): Promise<ReadonlySet<WorkspaceId>> {
  const rows = await sql<{ workspace: WorkspaceId }[]>`
    WITH start AS MATERIALIZED (
      SELECT * FROM unnest(
        ${arrayText(starts, ({ workspace }) => workspace)}::text[], ${arrayText(starts, ({ after }) => after)}::bigint[],
        ${arrayText(starts, ({ epoch }) => epoch)}::bigint[], ${arrayText(starts, (start) => start.isRebuilding)}::boolean[]
      ) AS start (workspace, after, epoch, rebuilding)
    ), locked AS MATERIALIZED (
      SELECT workspace_id FROM start JOIN credit_accounts ON workspace_id = workspace ORDER BY workspace_id
      FOR NO KEY UPDATE OF credit_accounts
    )
    UPDATE credit_accounts AS account
    SET epoch = start.epoch, server = ledger_server(), is_rebuilding = is_rebuilding OR rebuilding
    FROM start JOIN locked ON locked.workspace_id = start.workspace
    WHERE account.workspace_id = start.workspace AND account.epoch = start.after
    RETURNING account.workspace_id AS workspace`;
  return new Set(rows.map(({ workspace }) => workspace));
}
