/** Writes the in-memory ledgers of many runs into a real database and verifies them as production does. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Database } from "../../../src/backing/backing.ts";
import { openEmbeddedPostgres } from "../../../src/backing/embedded/postgres.ts";
import { monthOf, systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { verifyLedger, type Verification } from "../../../src/gateway/metering/verify.ts";
import { GenerationsMonths } from "../../../src/gateway/metering/store.ts";
import type { MemoryLedger } from "../../support/gateway/memory-ledger.ts";
import { copyEmbeddedDatabase } from "../../support/servers/prepared-databases.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

export class StoredLedgers implements AsyncDisposable {
  readonly #sql: Database;
  readonly #stack: AsyncDisposableStack;

  private constructor(sql: Database, stack: AsyncDisposableStack) {
    this.#sql = sql;
    this.#stack = stack;
  }

  static async open(): Promise<StoredLedgers> {
    await using stack = new AsyncDisposableStack();
    const { path } = stack.use(await temporaryFolder());
    const folder = join(path, "postgres");
    await copyEmbeddedDatabase(folder);
    const { sql } = stack.use(await openEmbeddedPostgres({ folder, clock: systemClock, log: silentLog }));
    // Triggers refuse to empty the tables.
    await sql`SET session_replication_role = replica`;
    return new StoredLedgers(sql, stack.move());
  }

  /** Verifies exactly these ledgers. Their workspaces must all have different names. */
  async verify(ledgers: readonly MemoryLedger[]): Promise<Verification> {
    const sql = this.#sql;
    await sql`TRUNCATE workspaces, ledger_entries, generations, workspace_months, key_months, budget_totals CASCADE`;
    await new GenerationsMonths(sql).make(
      ledgers.flatMap(({ charges }) => [...charges.values()].map(({ settlement }) => settlement)),
    );
    await sql.begin(async (tx) => {
      for (const [table, rows] of Object.entries(rowsOf(ledgers))) {
        // Every row names all of its columns.
        await tx.unsafe(
          `INSERT INTO ${table} (${columnsOf(rows)}) SELECT ${columnsOf(rows)} FROM jsonb_populate_recordset(NULL::${table}, $1::text::jsonb)`,
          [JSON.stringify(rows)],
        );
      }
    });
    return verifyLedger({ sql });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

type Row = Record<string, string | number | boolean | null>;

function columnsOf([row]: Row[]): string {
  return Object.keys(row ?? {}).join(", ");
}

/** The rows by table, in an order that satisfies foreign keys. */
function rowsOf(ledgers: readonly MemoryLedger[]): Record<string, Row[]> {
  const rows: Record<string, Row[]> = {
    workspaces: ledgers.flatMap(({ accounts }) => [...accounts.keys()].map((id) => ({ id, name: id, ...switches }))),
    credit_accounts: ledgers.flatMap(({ accounts }) =>
      [...accounts].map(([workspace_id, { balance, sequence }]) => ({
        workspace_id,
        balance_nano: text(balance),
        sequence: text(sequence),
        has_budgets: false,
      })),
    ),
    ...memberRows(ledgers),
    budget_totals: ledgers.flatMap(({ budgetTotals }) =>
      [...budgetTotals].map(([key, spent]) => {
        const [workspace_id = "", name = "", since = ""] = key.split(" ");
        return { workspace_id, name, since, spent_nano: text(spent) };
      }),
    ),
    ledger_entries: ledgers.flatMap(entryRows),
    generations: ledgers.flatMap(generationRows),
    workspace_months: ledgers.flatMap(({ workspaceMonths }) =>
      [...workspaceMonths].map(([name, spent]) => {
        const [workspace_id = "", month = ""] = name.split(" ");
        return { workspace_id, month, spent_nano: text(spent) };
      }),
    ),
    key_months: ledgers.flatMap(({ keyMonths }) =>
      [...keyMonths].map(([name, { spent, version }]) => {
        const [key_id = "", month = ""] = name.split(" ");
        return { key_id, month, spent_nano: text(spent), version: text(version) };
      }),
    ),
  };
  return Object.fromEntries(Object.entries(rows).filter(([, some]) => some.length > 0));
}

/** Columns with a default, which explicit rows do not get. */
const at = "2026-11-20T12:00:00Z";
const switches = {
  enabled: true,
  fallbacks: true,
  zero_data_retention: false,
  prompt_storage: false,
  cost_in_answers: false,
  early_access: "{}",
  created_at: at,
};

/** Members who own keys, which budgets of members need. */
function memberRows(ledgers: readonly MemoryLedger[]): Record<"members" | "api_keys", Row[]> {
  const owned = ledgers.flatMap(({ owners }) => [...owners]);
  const ofMember = (caller: string) => ({ workspace_id: caller.replace("mbr", "ws"), email: `${caller}@example.com` });
  const members = [...new Set(owned.map(([, caller]) => caller))].map((caller_id) => {
    return { ...ofMember(caller_id), caller_id, role: "member", active: true, created_at: at };
  });
  const keys = owned.map(([id, caller]) => {
    const { workspace_id, email: owner_email } = ofMember(caller);
    const hash = `\\x${createHash("sha256").update(id).digest("hex")}`;
    return { id, workspace_id, owner_email, kind: "inference", name: id, hash, start: id, created_at: at };
  });
  return { members, api_keys: keys };
}

function entryRows({ accounts }: MemoryLedger): Row[] {
  return [...accounts].flatMap(([workspace_id, { entries }]) =>
    entries.map(({ kind, amount, balanceAfter, reference, charges }, index) => {
      return {
        workspace_id,
        sequence: index + 1,
        kind,
        amount_nano: text(amount),
        balance_after_nano: text(balanceAfter),
        reference,
        charges,
        at,
      };
    }),
  );
}

function generationRows({ charges }: MemoryLedger): Row[] {
  return [...charges.values()].map(({ settlement, cost, costPico, excess, late, entry, repeats }) => {
    const { generation, request, workspace, key, model, provider, status, code, streamed, usage, reserved, outcome } = settlement;
    const ids = { generation_id: generation, request_id: request, workspace_id: workspace, key_id: key, model, provider };
    const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens } = usage;
    const tokens = {
      prompt_tokens: promptTokens,
      cached_tokens: cachedTokens,
      completion_tokens: completionTokens,
      cache_write_tokens: cacheWriteTokens || null,
      tier_above_tokens: settlement.tierAboveTokens ?? null,
      endpoint: settlement.endpoint ?? null,
      own_key_id: settlement.ownKey?.id ?? null,
      list_cost_nano: settlement.ownKey?.listCost ?? null,
      claim: repeats === undefined ? (settlement.claim?.id ?? null) : null,
    };
    const money = {
      entry: entry === null ? null : text(entry),
      reserved_nano: reserved,
      cost_nano: text(cost),
      excess_nano: text(excess),
      cost_pico: text(costPico),
    };
    const times = {
      admitted_at: new Date(settlement.admittedAt).toISOString(),
      month: settlement.month === monthOf(settlement.admittedAt) ? null : settlement.month,
      first_token_ms: settlement.firstTokenMs,
      duration_ms: settlement.durationMs,
    };
    return {
      ...ids,
      ...tokens,
      ...money,
      ...times,
      outcome,
      late,
      status,
      code,
      streamed,
      usage_estimated: settlement.usageEstimated,
    };
  });
}

function text(amount: bigint): string {
  return amount.toString();
}
