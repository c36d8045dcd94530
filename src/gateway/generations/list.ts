import type { Actor } from "../../accounts/audit/actor.ts";
import type { Queries } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";
import { selectCallerIds } from "../../accounts/keys/store.ts";
import { ownerSeenBy } from "../../accounts/workspaces/authorize.ts";
import { findCallers } from "./callers.ts";
import type { GenerationView, LogView } from "./schema.ts";
import { isSought, searchLog, type OutcomeFilter, type SoughtRow } from "./search.ts";
import {
  allColumns,
  soughtColumns,
  selectGenerations,
  selectLog,
  selectLogOfKeys,
  selectWholeLog,
  type GenerationRow,
  type LogPage,
  type Reading,
} from "./store.ts";
import { viewGeneration } from "./view.ts";

export interface LogFilter extends OutcomeFilter {
  /** null: all workspaces that the actor may see. */
  workspace: WorkspaceId | null;
  /** A key that the actor may see; null: any key. */
  key: KeyId | null;
  /** The email of a member, for their requests in the Workbench and those of all keys of theirs; null: any member. */
  member: string | null;
}

interface Sources {
  sql: Queries;
  clock: Pick<Clock, "now">;
}

/** The request log, newest first: members see their own requests, overseers all requests. */
export async function listGenerations(
  { actor, filter, page }: { actor: Actor; filter: LogFilter; page: LogPage },
  { sql, clock }: Sources,
): Promise<LogView> {
  const { workspace } = filter;
  const keys = await keysOf({ actor, filter }, sql);
  const read = <Row extends object>(part: LogPage, columns: Reading["columns"]): Promise<Row[]> => {
    const reading = { sql, columns };
    if (keys) return keys.length === 0 ? Promise.resolve([]) : selectLogOfKeys({ keys, ...part }, reading);
    return workspace === null ? selectWholeLog(part, reading) : selectLog({ workspace, ...part }, clock.now(), reading);
  };
  const { status, code } = filter;
  const sought = { status, code, model: keys === null ? null : page.model };
  if (!isSought(sought)) {
    const rows = await read<GenerationRow>(page, allColumns);
    const last = rows.length === page.limit ? rows.at(-1) : undefined;
    return { data: await views(rows, sql), next: last?.generation ?? null, searched: null };
  }
  const model = keys === null ? page.model : null;
  const found = await searchLog({ page: { ...page, model }, sought, parts: keys?.length ?? 1 }, (part) =>
    read<SoughtRow>(part, soughtColumns),
  );
  const rows = await selectGenerations(found.generations, sql);
  return { data: await views(rows, sql), next: found.next, searched: found.searched };
}

/** @returns null: all callers */
async function keysOf(
  { actor, filter: { workspace, key, member } }: { actor: Actor; filter: LogFilter },
  sql: Queries,
): Promise<KeyId[] | null> {
  const seen = ownerSeenBy(actor);
  if (seen !== null && member !== null && member !== seen) return [];
  const owner = seen ?? member;
  if (key !== null) return [key];
  return owner === null ? null : selectCallerIds({ workspace, owner }, sql);
}

async function views(rows: GenerationRow[], sql: Queries): Promise<GenerationView[]> {
  const callers = await findCallers(rows, sql);
  return rows.map((row) => viewGeneration(row, callers.get(row.key)));
}
