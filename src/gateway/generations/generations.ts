/**
 * The request log: list, search, find, and one request for the key that made it. Members see their own requests, overseers all of the
 * workspace; a generation of another member or workspace is not found. Filters without an index (status, error code, endpoint, provider) read the log
 * from its newest row on, a bounded part at a time, and the answer says where the next older part begins.
 */
import { type Actor, ownerSeenBy } from "../../accounts/audit/actor.ts";
import { DomainError } from "../../accounts/errors.ts";
import { selectCallerIds, type Caller, selectCallers } from "../../accounts/keys/store.ts";
import { FairSemaphore } from "../../accounts/quotas/fair-semaphore.ts";
import type { Queries, Database } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { KeyId, WorkspaceId, GenerationId } from "../../kernel/ids.ts";
import type { NamedEndpoint } from "../field-parts.ts";
import type { GenerationRow } from "../generation-fields.ts";
import {
  logSearchReadRowsMax,
  logSearchReadsMax,
  logSearchRowsMax,
  keyUsageReadsPerKeyMax,
  keyUsageWaitingMax,
  keyUsageWaitingPerKeyMax,
  keyUsageWaitMs,
  keyUsageReadsMax,
} from "../limits.ts";
import { type GenerationView, type LogView, viewGeneration } from "./schema.ts";
import * as store from "./store.ts";

interface LogFilter extends OutcomeFilter {
  /** null: all workspaces that the actor may see. */
  workspace: WorkspaceId | null;
  /** A key that the actor may see; null: any key. */
  key: KeyId | null;
  /** The email of a member, for their requests in the Workbench and with all their keys; null: any member. */
  member: string | null;
}

interface Sources {
  sql: Queries;
  clock: Pick<Clock, "now">;
}

/** The request log, newest first: members see their own requests, overseers all requests. */
export async function listGenerations(
  { actor, filter, page }: { actor: Actor; filter: LogFilter; page: store.LogPage },
  { sql, clock }: Sources,
): Promise<LogView> {
  const { workspace } = filter;
  const keys = await keysOf({ actor, filter }, sql);
  const read = <Row extends object>(part: store.LogPage, columns: store.Reading["columns"]): Promise<Row[]> => {
    const reading = { sql, columns };
    if (keys) return keys.length === 0 ? Promise.resolve([]) : store.selectLogOfKeys({ keys, ...part }, reading);
    return workspace === null
      ? store.selectWholeLog(part, reading)
      : store.selectLog({ workspace, ...part }, clock.now(), reading);
  };
  const { status, code, endpoint, provider } = filter;
  const sought = { status, code, endpoint, provider, model: keys === null ? null : page.model };
  if (!isSought(sought)) {
    const rows = await read<GenerationRow>(page, store.allColumns);
    const last = rows.length === page.limit ? rows.at(-1) : undefined;
    return { data: await views(rows, sql), next: last?.generation ?? null, searched: null };
  }
  const model = keys === null ? page.model : null;
  const found = await searchLog({ page: { ...page, model }, sought, parts: keys?.length ?? 1 }, (part) =>
    read<SoughtRow>(part, store.soughtColumns),
  );
  const rows = await store.selectGenerations(found.generations, sql);
  return { data: await views(rows, sql), next: found.next, searched: found.searched };
}

/** @param id of the generation or of its request @throws DomainError not_found: no such generation, or it has not ended */
export async function findGeneration(id: string, sql: Queries): Promise<GenerationRow> {
  const ofRequest = /^req-[a-z2-7]{26}$/.test(id);
  const row = await (ofRequest ? store.selectGenerationOfRequest(id, sql) : store.selectGeneration(id, sql));
  if (!row) throw generationNotFound(id);
  return row;
}

/**
 * Requires a generation that the actor may see in their current workspace.
 * @returns its caller; undefined: unknown
 * @throws DomainError not_found even for a generation of another member or workspace
 */
export async function requireVisibleGeneration(
  { actor, workspace, row }: { actor: Actor; workspace: WorkspaceId; row: GenerationRow },
  { sql }: { sql: Queries },
): Promise<Caller | undefined> {
  if (row.workspace !== workspace) throw generationNotFound(row.generation);
  const seen = ownerSeenBy(actor);
  const caller = (await findCallers([row], sql)).get(row.key);
  if (seen !== null && caller?.email !== seen) throw generationNotFound(row.generation);
  return caller;
}

export function generationNotFound(id: GenerationId): DomainError {
  return new DomainError("not_found", `There is no ended generation with the id "${id}"`, { field: "id" });
}

/** The person behind each row's caller, and the key's name. */
export async function findCallers(
  rows: readonly Pick<GenerationRow, "key">[],
  sql: Queries,
): Promise<ReadonlyMap<KeyId, Caller>> {
  const ids = [...new Set(rows.map(({ key }) => key))];
  if (ids.length === 0) return new Map();
  return new Map((await selectCallers(ids, sql)).map((caller) => [caller.id, caller]));
}

/**
 * Reads one ended generation of a key, for the key's holder.
 * @returns null: there is none of this key, or it has not ended @throws LimitReachedError while too many ask; errors of the database
 */
export type ReadKeyGeneration = (asked: { key: KeyId; generation: GenerationId }) => Promise<GenerationRow | null>;

/** Only a few at once, as with usage queries: no rate limit counts these. */
export function keyGeneration({ sql, clock }: { sql: Database; clock: Clock }): ReadKeyGeneration {
  const limits = {
    runningMax: keyUsageReadsMax,
    runningPerHolderMax: keyUsageReadsPerKeyMax,
    waitingMax: keyUsageWaitingMax,
    waitingPerHolderMax: keyUsageWaitingPerKeyMax,
    waitMs: keyUsageWaitMs,
  };
  const turns = new FairSemaphore({ clock, limits, busy: "Too many questions about generations at once; try again shortly" });
  return async ({ key, generation }) => {
    const release = await turns.acquire(key);
    try {
      const row = await store.selectGeneration(generation, sql);
      return row?.key === key ? row : null;
    } finally {
      release();
    }
  };
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

// Search without an index

interface OutcomeFilter {
  /** `error`: a status of 400 or above, as usage counts errors; null: any. */
  status: "ok" | "error" | null;
  /** The code of an error; null: any. */
  code: string | null;
  /** null: any. */
  endpoint: NamedEndpoint | null;
  /** null: any. */
  provider: string | null;
}

interface Sought extends OutcomeFilter {
  /** For reads by key, whose index has no models; null: any. */
  model: string | null;
}

export type SoughtRow = Pick<GenerationRow, "generation" | "model" | "provider" | "endpoint" | "status" | "code">;

interface Found {
  generations: GenerationId[];
  /** Where an older part begins; null: there is none. */
  next: GenerationId | null;
  /** How many rows were read for it. */
  searched: number;
}

/**
 * The newest matches of a page, out of a bounded number of rows.
 * @param read reads a page of the log
 * @param parts how many indexes `read` reads for a page, each from its newest row on
 */
export async function searchLog(
  { page, sought, parts }: { page: store.LogPage; sought: Sought; parts: number },
  read: (page: store.LogPage) => Promise<SoughtRow[]>,
): Promise<Found> {
  const found: Found = { generations: [], next: page.before, searched: 0 };
  const limitMax = Math.max(100, Math.floor(logSearchReadRowsMax / parts));
  // Small at first: where most rows match, one read is enough.
  let limit = Math.min(Math.max(page.limit, 100), limitMax);
  for (let reads = 0; reads < logSearchReadsMax && found.searched < logSearchRowsMax; reads++) {
    const rows = await read({ ...page, before: found.next, limit });
    if (take(rows, { page, sought, found })) return found;
    if (rows.length < limit) return { ...found, next: null };
    limit = Math.min(limit * 4, limitMax);
  }
  return found;
}

function isSought({ status, code, endpoint, provider, model }: Sought): boolean {
  return [status, code, endpoint, provider, model].some((one) => one !== null);
}

function isMatch(row: SoughtRow, { status, code, endpoint, provider, model }: Sought): boolean {
  if (provider !== null && row.provider !== provider) return false;
  if (endpoint !== null && (row.endpoint ?? "chat") !== endpoint) return false;
  if (code !== null && row.code !== code) return false;
  if (model !== null && row.model !== model) return false;
  return status === null || (status === "error") === row.status >= 400;
}

/** @returns whether the page is full */
function take(rows: SoughtRow[], { page, sought, found }: { page: store.LogPage; sought: Sought; found: Found }): boolean {
  for (const row of rows) {
    found.next = row.generation;
    found.searched++;
    if (isMatch(row, sought)) found.generations.push(row.generation);
    if (found.generations.length === page.limit) return true;
  }
  return false;
}
