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
  /** The workspace's own key that served, and what the call would have cost; null: the service's. */
  ownKey: string | null;
  listCost: bigint | null;
  /** Its request had an idempotency key, which is spent on it. */
  isSpent: boolean;
}

export interface StoredEntry {
  workspace: string;
  kind: "credit" | "charge";
  amount: bigint;
  /** Of a credit. */
  reference: string | null;
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
    SELECT generation_id AS generation, charge.workspace_id AS workspace, key_id AS key,
      coalesce(month, to_char(admitted_at AT TIME ZONE 'UTC', 'YYYY-MM')) AS month, outcome, reserved_nano AS reserved, cost_nano AS cost,
      excess_nano AS excess, late, (status = 500 AND usage_estimated) AS cut,
      (extract(epoch FROM coalesce(entry.at, booked_at)) * 1000)::float8 AS at,
      (extract(epoch FROM admitted_at) * 1000)::float8 AS "admittedAt", status, code,
      own_key_id AS "ownKey", list_cost_nano AS "listCost", claim IS NOT NULL AS "isSpent"
    FROM generations AS charge
    LEFT JOIN ledger_entries AS entry ON entry.workspace_id = charge.workspace_id AND sequence = charge.entry
    ORDER BY generation_id`;
  const entries = await sql<StoredEntry[]>`
    SELECT workspace_id AS workspace, kind, amount_nano AS amount, reference, (extract(epoch FROM at) * 1000)::float8 AS at
    FROM ledger_entries ORDER BY workspace_id, sequence`;
  return { charges: [...charges], entries: [...entries] };
}
