/**
 * Verifies the stored money: every invariant over one `REPEATABLE READ` snapshot, while settlement continues. Two million charges take
 * about nine seconds with PostgreSQL on two cores. An embedded database has one connection, which is occupied for that time, so verify a
 * large embedded ledger while the service is otherwise idle. The first broken invariant ends the check. verify-store.ts describes each at
 * its function. Nothing is repaired: a broken ledger needs a person.
 */
import { Type, type Static } from "@sinclair/typebox";
import { type Database, allowStatements } from "../../backing/backing.ts";
import { ledgerStatementMsMax } from "../limits.ts";
import { invariants, keepMonths } from "./verify-store.ts";

const invariant = Type.String({ description: "Its name, such as `running_balance`" });
const Checked = Type.Object({ invariant, rows: Type.Integer({ description: "Count of rows checked" }) });
type Checked = Static<typeof Checked>;

const Broken = Type.Object({ invariant, detail: Type.String({ description: "The first row that breaks it" }) });

export const Verification = Type.Object({
  ok: Type.Boolean({ description: "Whether every invariant holds" }),
  checked: Type.Array(Checked, { description: "The invariants that were checked" }),
  broken: Type.Union([Broken, Type.Null()], { description: "The first invariant that does not hold; null: all do" }),
});
export type Verification = Static<typeof Verification>;

/**
 * @param onChecked called with each invariant after its check
 * @throws errors of the database. A broken invariant is a result, not an error
 */
export async function verifyLedger({
  sql,
  onChecked,
}: {
  sql: Database;
  onChecked?: (checked: Checked) => void;
}): Promise<Verification> {
  return sql.begin("isolation level repeatable read read only", async (tx) => {
    await keepMonths(tx);
    await allowStatements(ledgerStatementMsMax, tx);
    const result: Verification = { ok: true, checked: [], broken: null };
    for (const [invariant, check] of Object.entries(invariants)) {
      const { rows, broken } = await check(tx);
      const checked = { invariant, rows: Number(rows) };
      result.checked.push(checked);
      onChecked?.(checked);
      if (broken !== null) result.broken ??= { invariant, detail: broken };
    }
    return { ...result, ok: result.broken === null };
  });
}
