import { selectCallers } from "../../accounts/keys/store.ts";
import type { Queries } from "../../backing/backing.ts";
import type { KeyId } from "../../kernel/ids.ts";
import type { GenerationRow } from "./store.ts";

/** The email of the person behind each row's caller: the owner of the key, or the member who used the Workbench. */
export async function findCallers(
  rows: readonly Pick<GenerationRow, "key">[],
  sql: Queries,
): Promise<ReadonlyMap<KeyId, string>> {
  const ids = [...new Set(rows.map(({ key }) => key))];
  if (ids.length === 0) return new Map();
  return new Map((await selectCallers(ids, sql)).map(({ id, email }) => [id, email]));
}
