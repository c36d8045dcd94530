/** The tables of top-ups in the simulated database: the product's own statements and schema, together with the ledger in memory. */
import { Database as Engine } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Database, Transaction } from "../../../src/backing/backing.ts";
import type { EntryKind } from "../../../src/gateway/credit/store.ts";
import type { Host } from "../world/host.ts";
import type { LedgerServer } from "../world/ledger-server.ts";
import { execute, Statement, tablesOf, type Row, type Rows } from "./statement.ts";

const migration = readFileSync(join(import.meta.dir, "../../../src/backing/migrations/0004-top-ups.sql"), "utf8");

/** What top-ups use of the ledger and of workspaces. */
const around = [
  "CREATE TABLE workspaces (id text PRIMARY KEY, enabled boolean NOT NULL)",
  "CREATE TABLE credit_accounts (workspace_id text PRIMARY KEY, balance_nano bigint NOT NULL, sequence bigint NOT NULL)",
  `CREATE TABLE ledger_entries (workspace_id text, sequence bigint, kind text, amount_nano bigint, balance_after_nano bigint,
    reference text, PRIMARY KEY (workspace_id, sequence))`,
  "CREATE UNIQUE INDEX ledger_credit_reference ON ledger_entries (workspace_id, reference) WHERE kind = 'credit'",
  `CREATE UNIQUE INDEX ledger_taken_back_reference ON ledger_entries (workspace_id, kind, reference)
    WHERE kind IN ('refund', 'refund_reversed', 'dispute', 'dispute_reinstated')`,
];
const tables = [...around, ...tablesOf(migration)];

/** Rows of audits, alerts and mails, which change no money, are not kept. */
const unkept = /INSERT INTO (?:audit_events|alerts|mails)\b|FROM (?:alert_rules|members)\b/;
const workspaceOfAlert = /FROM workspaces w\b/;

export class TopUpDatabase {
  readonly #engine = new Engine(":memory:", { safeIntegers: true });
  readonly #ledger: LedgerServer;
  #isOpen = false;
  /** The entries of the engine that the ledger has. */
  #entries = 0;

  constructor(ledger: LedgerServer) {
    this.#ledger = ledger;
    for (const table of tables) this.#engine.run(table);
    for (const workspace of ledger.ledger.accounts.keys()) {
      this.run("INSERT INTO workspaces VALUES (?, true)", workspace);
      this.run("INSERT INTO credit_accounts VALUES (?, 0, 0)", workspace);
    }
  }

  /** Runs a statement of the simulation itself, which takes no time. */
  run(text: string, ...values: unknown[]): Row[] {
    return execute(this.#engine, { text, values });
  }

  /**
   * The database as one process uses it. A transaction happens at once at its process; the ways to it and from it are those of the
   * network, so that it may not begin, or its outcome may stay unknown.
   */
  of(host: Host): Database {
    const { server } = this.#ledger;
    const run = (statement: Statement) => server.call(host, async () => this.#execute(statement));
    const begin = async <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
      await server.call(host, async () => {});
      if (server.isDead) throw new Error("the simulated database did not answer");
      const result = await this.#transaction(work);
      await server.call(host, async () => {});
      return result;
    };
    return Object.assign(tagOf(run), { begin }) as unknown as Database;
  }

  async #transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    if (this.#isOpen) throw new Error("A transaction waits for something beside the database");
    this.#isOpen = true;
    this.#engine.run("BEGIN");
    for (const [workspace, { balance, sequence }] of this.#ledger.ledger.accounts)
      this.run("UPDATE credit_accounts SET balance_nano = ?, sequence = ? WHERE workspace_id = ?", balance, sequence, workspace);
    const run = async (statement: Statement) => this.#execute(statement);
    const tx = Object.assign(tagOf(run), { savepoint: null, json: (value: unknown) => JSON.stringify(value) });
    try {
      // The product uses nothing else of a transaction.
      const result = await work(tx as unknown as Transaction);
      this.#engine.run("COMMIT");
      this.#book();
      return result;
    } catch (error) {
      this.#engine.run("ROLLBACK");
      throw error;
    } finally {
      this.#isOpen = false;
    }
  }

  #execute(statement: Statement): Rows {
    if (unkept.test(statement.text)) return Object.assign([], { count: 0 });
    if (workspaceOfAlert.test(statement.text)) return Object.assign([{ name: "simulated" }], { count: 1 });
    return execute(this.#engine, statement);
  }

  /** Gives the ledger the entries of the transaction that has just ended. */
  #book(): void {
    const entries = this.run("SELECT * FROM ledger_entries WHERE rowid > ? ORDER BY rowid", this.#entries);
    this.#entries += entries.length;
    for (const { workspace_id: workspace, kind, amount_nano: amount, reference } of entries)
      this.#ledger.move(String(workspace), BigInt(String(amount)), {
        kind: kind as EntryKind,
        reference: String(reference),
      });
  }
}

function tagOf(run: (statement: Statement) => Promise<Rows>) {
  return (strings: TemplateStringsArray, ...values: unknown[]) => new Statement({ strings, values, run });
}
