/** The data that a run left in the database and in Redis's file. Amounts are nano-USD, times wall-clock milliseconds. */
import type { Database } from "../../../../src/backing/backing.ts";

export interface StoredCharge {
  generation: string;
  workspace: string;
  key: string;
  month: string;
  outcome: "settled" | "unknown" | "expired";
  reserved: bigint;
  cost: bigint;
  excess: bigint;
  late: boolean;
  /** Its gateway died before the answer ended. */
  cut: boolean;
  at: number;
  /** By the counters' clock. */
  admittedAt: number;
  status: number;
  code: string | null;
}

export interface StoredEntry {
  workspace: string;
  kind: "credit" | "charge";
  amount: bigint;
  reference: string;
  at: number;
}

export interface Stored {
  charges: StoredCharge[];
  entries: StoredEntry[];
  /** All generations that the counters ever held. */
  held: ReadonlySet<string>;
}

/** Reads the entries in the order of the ledger. */
export async function readRows(sql: Database): Promise<Pick<Stored, "charges" | "entries">> {
  const charges = await sql<StoredCharge[]>`
    SELECT generation_id AS generation, charges.workspace_id AS workspace, charges.key_id AS key, charges.month, outcome,
      charges.reserved_nano AS reserved, charges.cost_nano AS cost, coalesce(excess_nano, 0) AS excess,
      late, (status = 500 AND usage_estimated) AS cut, (extract(epoch FROM charges.at) * 1000)::float8 AS at,
      (extract(epoch FROM request_log.at) * 1000)::float8 AS "admittedAt", status, code
    FROM charges JOIN request_log USING (generation_id) ORDER BY generation_id`;
  const entries = await sql<StoredEntry[]>`
    SELECT workspace_id AS workspace, kind, amount_nano AS amount, reference, (extract(epoch FROM at) * 1000)::float8 AS at
    FROM ledger_entries ORDER BY workspace_id, sequence`;
  return { charges: [...charges], entries: [...entries] };
}
