/** The product's statements over an embedded SQL engine that answers at once, as virtual time needs. */
import type { Database as Engine, SQLQueryBindings } from "bun:sqlite";

type Cell = string | number | bigint | boolean | Date | null;
export type Row = Record<string, Cell>;

/** The rows, with the number of changed ones, as the client of PostgreSQL gives them. */
export type Rows = Row[] & { count: number };

type Run = (statement: Statement) => Promise<Rows>;

/** It runs when it is awaited; inside of another statement it is a part of that one. */
export class Statement implements PromiseLike<Rows> {
  readonly text: string;
  readonly values: unknown[] = [];
  readonly #run: Run;

  constructor({ strings, values, run }: { strings: readonly string[]; values: unknown[]; run: Run }) {
    this.#run = run;
    let text = strings[0] ?? "";
    for (const [index, value] of values.entries()) {
      const isPart = value instanceof Statement;
      text += `${isPart ? value.text : "?"}${strings[index + 1] ?? ""}`;
      this.values.push(...(isPart ? value.values : [value]));
    }
    this.text = text;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- statements are awaited, as those of the real client
  then<A, B>(
    resolve?: ((rows: Rows) => A | PromiseLike<A>) | null,
    reject?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#run(this).then(resolve, reject);
  }
}

/** Runs a statement in the engine's dialect. */
export function execute(engine: Engine, { text, values }: Pick<Statement, "text" | "values">): Rows {
  const query = engine.query(inDialect(text));
  const bound = values.map(bindingOf);
  if (query.columnNames.length === 0) return Object.assign([], { count: query.run(...bound).changes });
  const cells = query.values(...bound);
  const { columnNames, declaredTypes } = query;
  const rows = cells.map((row) =>
    Object.fromEntries(
      row.map((cell, index) => [columnNames[index] ?? "", valueOf(cell, (declaredTypes[index] ?? "").toLowerCase())]),
    ),
  );
  return Object.assign(rows, { count: rows.length });
}

/** The tables of a migration, without what only PostgreSQL has. */
export function tablesOf(migration: string): string[] {
  const statements = migration.replaceAll(/--.*$/gm, "").split(";");
  return statements.filter((one) => one.includes("CREATE ")).map((one) => inDialect(one.replaceAll('COLLATE "C"', "")));
}

function inDialect(text: string): string {
  return text
    .replaceAll(/ = ANY\(\?::text\[\]\)/g, " IN (SELECT value FROM json_each(?))")
    .replaceAll(/::[a-z]+(?:\[\])?/g, "")
    .replaceAll(" FOR UPDATE", "");
}

function bindingOf(value: unknown): SQLQueryBindings {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return JSON.stringify(value);
  return value as SQLQueryBindings;
}

/** Whole numbers come as bigint. @param type as the table declares it; empty for sums */
function valueOf(cell: unknown, type: string): Cell {
  if (typeof cell === "bigint" && type === "integer") return Number(cell);
  if (typeof cell === "bigint" && type === "boolean") return cell === 1n;
  if (typeof cell === "string" && type === "timestamptz") return new Date(cell);
  return cell as Cell;
}
