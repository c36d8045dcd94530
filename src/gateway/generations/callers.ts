import { selectCallers, type Caller } from "../../accounts/keys/store.ts";
import type { Queries } from "../../backing/backing.ts";
import type { KeyId } from "../../kernel/ids.ts";
import type { GenerationRow } from "./store.ts";

/** The person behind each row's caller, and the key's name. */
export async function findCallers(
  rows: readonly Pick<GenerationRow, "key">[],
  sql: Queries,
): Promise<ReadonlyMap<KeyId, Caller>> {
  const ids = [...new Set(rows.map(({ key }) => key))];
  if (ids.length === 0) return new Map();
  return new Map((await selectCallers(ids, sql)).map((caller) => [caller.id, caller]));
}
