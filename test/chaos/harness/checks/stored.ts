/** What a run left in the database. Amounts are nano-USD, times milliseconds. */
import postgres from "postgres";

export interface StoredCharge {
  generation: string;
  workspace: string;
  key: string;
  month: string;
  outcome: "settled" | "unknown" | "expired";
  reserved: bigint;
  cost: bigint;
  late: boolean;
}

export interface StoredEntry {
  workspace: string;
  sequence: bigint;
  kind: "credit" | "charge";
  amount: bigint;
  balanceAfter: bigint;
  reference: string;
}

export interface StoredLogRow {
  generation: string;
  key: string;
  /** When it was admitted, by the counters' clock. */
  admittedAt: number;
  status: number;
  code: string | null;
  estimated: boolean;
  promptTokens: bigint;
  completionTokens: bigint;
}

export interface Stored {
  charges: StoredCharge[];
  entries: StoredEntry[];
  log: StoredLogRow[];
  deadLetters: bigint;
}

export async function readStored(url: string): Promise<Stored> {
  const sql = postgres(url, { max: 1, onnotice: () => {}, types: { bigint: postgres.BigInt } });
  try {
    return await sql.begin("isolation level repeatable read read only", async (tx) => {
      const charges = await tx<StoredCharge[]>`
        SELECT generation_id AS generation, workspace_id AS workspace, key_id AS key, month, outcome, reserved_nano AS reserved,
          cost_nano AS cost, late FROM charges`;
      const entries = await tx<StoredEntry[]>`
        SELECT workspace_id AS workspace, sequence, kind, amount_nano AS amount, balance_after_nano AS "balanceAfter", reference
        FROM ledger_entries ORDER BY workspace_id, sequence`;
      const log = await tx<StoredLogRow[]>`
        SELECT generation_id AS generation, key_id AS key, (extract(epoch FROM at) * 1000)::float8 AS "admittedAt", status, code,
          usage_estimated AS estimated, prompt_tokens AS "promptTokens", completion_tokens AS "completionTokens" FROM request_log`;
      const [dead] = await tx<{ count: bigint }[]>`SELECT count(*) AS count FROM dead_letters`;
      return { charges, entries, log, deadLetters: dead?.count ?? 0n };
    });
  } finally {
    await sql.end();
  }
}
