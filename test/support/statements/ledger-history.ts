/** A workspace's ledger with entries of chosen times, which the database otherwise takes from its own clock. */
import type { Database, Transaction } from "../../../src/backing/backing.ts";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { book } from "../gateway/settlements.ts";

/** Changes what triggers keep from change, as somebody with the database's files could. */
export function withoutTriggers(sql: Database, work: (tx: Transaction) => Promise<unknown>): Promise<unknown> {
  return sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await work(tx);
  });
}

export class LedgerHistory {
  readonly #sql: Database;
  readonly #workspace: string;

  constructor(sql: Database, workspace: string) {
    this.#sql = sql;
    this.#workspace = workspace;
  }

  /** Books settlements as metering does, at this time, such as 2026-09-01T00:01:00Z. */
  async book(at: string, ...settlements: Settlement[]): Promise<void> {
    await book(this.#sql, ...settlements);
    await this.#enteredAt(at);
  }

  /** Enters an amount that is not a charge; below zero it is taken. */
  async enter(at: string, { kind, nano, reference }: { kind: string; nano: bigint; reference: string }): Promise<void> {
    await this.#sql.begin(async (tx) => {
      // Kinds come with the parts that enter them.
      await tx`ALTER TABLE ledger_entries DROP CONSTRAINT IF EXISTS ledger_entries_kind_check`;
      await tx`
        WITH head AS (
          UPDATE credit_accounts SET sequence = sequence + 1, balance_nano = balance_nano + ${nano} WHERE workspace_id = ${this.#workspace}
          RETURNING *
        )
        INSERT INTO ledger_entries (workspace_id, sequence, kind, amount_nano, balance_after_nano, reference)
        SELECT workspace_id, sequence, ${kind}, ${nano}, balance_nano, ${reference} FROM head`;
    });
    await this.#enteredAt(at);
  }

  async #enteredAt(at: string): Promise<void> {
    await withoutTriggers(
      this.#sql,
      (tx) => tx`
        UPDATE ledger_entries AS entry SET at = ${new Date(at)} FROM credit_accounts AS account
        WHERE account.workspace_id = ${this.#workspace} AND entry.workspace_id = account.workspace_id AND entry.sequence = account.sequence`,
    );
  }
}
