/** Reads one code within a transaction. Wrong codes are counted there, so a refusal is a result and no error, which would undo the count. */
import type { Transaction } from "../../backing/backing.ts";
import type { Sources } from "../audit/change.ts";
import { DomainError } from "../errors.ts";
import { triesProblem, withWrongCode } from "./code-tries.ts";
import { lockSecondFactor, updateWrongCodes, type SecondFactorRow } from "./second-factor-store.ts";

type Checked<T> = { accepted: T } | { refused: DomainError };

/**
 * @param accept gives null for a wrong code
 * @throws DomainError rate_limited, after too many wrong codes; invalid_field for a wrong one; conflict where none is set up
 */
export async function checkedCode<T>(
  email: string,
  { sql, clock }: Sources,
  accept: (row: SecondFactorRow, tx: Transaction) => Promise<T | null>,
): Promise<T> {
  const inside = async (tx: Transaction): Promise<Checked<T>> => {
    const row = await lockSecondFactor(email, tx);
    if (!row) return { refused: new DomainError("conflict", "No second factor is set up for this account: set one up first") };
    const problem = triesProblem(row, clock.now());
    if (problem !== null) return { refused: problem };
    const accepted = await accept(row, tx);
    if (accepted !== null) return { accepted };
    await updateWrongCodes(withWrongCode(row, clock.now()), tx);
    return {
      refused: new DomainError("invalid_field", "The code is wrong, or was used already: take the next one", { field: "code" }),
    };
  };
  const checked = await ("savepoint" in sql ? inside(sql) : sql.begin(inside));
  if ("refused" in checked) throw checked.refused;
  return checked.accepted;
}

/** The six digits in what a person typed, such as `123 456`; null: it is another text. */
export function digitsOf(typed: string): string | null {
  const text = typed.replaceAll(/\s/g, "");
  return /^\d{6}$/.test(text) ? text : null;
}
