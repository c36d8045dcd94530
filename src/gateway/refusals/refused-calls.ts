/**
 * Refused calls of a gateway, from the moment that they are answered to their rows. Each is counted by key, code and minute, and by key, code
 * and day; and the last 200 of a workspace are kept with their message. A call is refused without waiting for this: it is noted in memory,
 * and one write every two seconds has what was refused since. So a flood costs bounded memory, writes and rows. A gateway holds 11,000 counts
 * and 2,000 calls, of which one workspace has 200. In a minute 50 pairs of key and code of a workspace have their own count, and further ones
 * count without a key; days are exact by key. Wrong keys count without a key or a workspace, so what strangers send makes no rows.
 * Each gateway of a fleet writes its own counts, and the database adds them up. A gateway that is killed loses what was refused in its last
 * two seconds; one that stops in order loses nothing. While the database does not answer, counts wait within the same bounds. A write that
 * was carried out but not confirmed is repeated, so that its calls may count twice: these are figures for people, and no money follows them.
 */
import type { Database } from "../../backing/backing.ts";
import { databaseDeadlineMs } from "../../backing/limits.ts";
import { sleep, withDeadline, type Clock } from "../../kernel/clock.ts";
import { errorCode } from "../../kernel/error-code.ts";
import type { ErrorCode } from "../../kernel/errors.ts";
import { newRequestId, type KeyId, type WorkspaceId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import * as limits from "./limits.ts";
import type { RefusedEndpoint } from "./schema.ts";
import { addRefusals, deleteOldRefusals, nameOfCount, spans, type RefusalCount, type RefusedRow } from "./store.ts";

/** A call that was refused. Nothing in it is a text of the request. */
export interface RefusedCall {
  /** null: no key is known. */
  workspace: WorkspaceId | null;
  key: KeyId | null;
  endpoint: RefusedEndpoint;
  code: ErrorCode;
  status: number;
  /** null: not known by then, or not in the catalog. */
  model: string | null;
  message: string;
  param: string | null;
  /** null: the answer named no wait. */
  retryAfterMs: number | null;
}

interface RefusedParts {
  sql: Database;
  clock: Clock;
  log: Logger;
}

export class RefusedCalls {
  readonly #parts: RefusedParts;
  readonly #named = new NamedPairs();
  /** By their names. */
  #counts = new Map<string, RefusalCount>();
  /** The newest of each workspace, oldest first. */
  #kept = new Map<WorkspaceId, RefusedRow[]>();
  #keptSize = 0;
  #cancel: (() => void) | null = null;
  #writing: Promise<void> | null = null;

  constructor(parts: RefusedParts) {
    this.#parts = parts;
  }

  /** Counts and calls that wait to be written. */
  get waiting(): { counts: number; calls: number } {
    return { counts: this.#counts.size, calls: this.#keptSize };
  }

  /** Never throws. */
  note(call: RefusedCall): void {
    const nowMs = this.#parts.clock.now();
    const minute = Math.floor(nowMs / minuteMs);
    const { workspace, key, code } = call;
    const caller = { workspace: workspace ?? "", key: key ?? "" };
    const named = this.#named.has({ ...caller, code, minute }) ? caller : { ...caller, key: "" };
    this.#count({ ...named, code, span: spans.minute, start: minute, calls: 1 });
    this.#count({ ...caller, code, span: spans.day, start: minute - (minute % spans.day), calls: 1 });
    if (workspace !== null && key !== null) this.#keep(rowOf({ ...call, workspace, key }, nowMs));
    this.#writeSoon();
  }

  /** Writes what waits, at the latest after `deadlineMs`. */
  async flushed(deadlineMs: number): Promise<void> {
    this.#cancel?.();
    this.#cancel = null;
    const isWritten = new AbortController();
    const written = (this.#writing ?? Promise.resolve()).then(() => this.#write()).then(() => isWritten.abort());
    await Promise.race([written, sleep(this.#parts.clock, deadlineMs, isWritten.signal)]);
  }

  #count(count: RefusalCount): void {
    const known = this.#counts.get(nameOfCount(count));
    if (known) known.calls += count.calls;
    else if (this.#counts.size < limits.refusedCountsWaitingMax) this.#counts.set(nameOfCount(count), count);
    else if (count.key !== "") this.#count({ ...count, key: "" });
    else this.#countElsewhere({ ...count, workspace: "" });
  }

  /** There is no room for the workspace: the calls count for all of them, and not at all once the database has been away for long. */
  #countElsewhere(count: RefusalCount): void {
    const known = this.#counts.get(nameOfCount(count));
    if (known) known.calls += count.calls;
    else if (this.#counts.size < limits.refusedCountsWaitingMax + limits.refusedSumsWaitingMax)
      this.#counts.set(nameOfCount(count), count);
  }

  #keep(row: RefusedRow): void {
    const rows = this.#kept.get(row.workspace) ?? [];
    const isFull = this.#keptSize >= limits.refusedWaitingMax;
    if (isFull && rows.length === 0) return;
    if (rows.length === 0) this.#kept.set(row.workspace, rows);
    rows.push(row);
    this.#keptSize++;
    if (!isFull && rows.length <= limits.refusedKeptMax) return;
    rows.shift();
    this.#keptSize--;
  }

  #writeSoon(): void {
    if (this.#cancel !== null || this.#writing !== null) return;
    this.#cancel = this.#parts.clock.after(limits.refusedWriteMs, () => {
      this.#cancel = null;
      this.#writing = this.#write().then(() => {
        this.#writing = null;
        if (this.#counts.size > 0) this.#writeSoon();
      });
    });
  }

  /** Never rejects: what cannot be written waits for the next time. */
  async #write(): Promise<void> {
    if (this.#counts.size === 0) return;
    const { sql, clock, log } = this.#parts;
    const [counts, kept] = [this.#counts, this.#kept];
    [this.#counts, this.#kept, this.#keptSize] = [new Map(), new Map(), 0];
    const rows = [...kept.values()].flat();
    try {
      const written = addRefusals({ counts: [...counts.values()], rows }, sql);
      await withDeadline(clock, databaseDeadlineMs, "Writing refused calls", written);
    } catch (error) {
      const newer = this.#kept;
      [this.#kept, this.#keptSize] = [new Map(), 0];
      for (const count of counts.values()) this.#count(count);
      for (const row of [...rows, ...[...newer.values()].flat()]) this.#keep(row);
      log.warn({ event: "refusals.not_written", code: errorCode(error) }, "Refused calls could not be written yet");
    }
  }
}

const minuteMs = 60_000;

/** The pairs of key and code that have their own count in a minute: the first of each workspace. */
class NamedPairs {
  #minute = -1;
  #size = 0;
  #pairs = new Map<WorkspaceId, Set<string>>();

  has({ workspace, key, code, minute }: Pick<RefusalCount, "workspace" | "key" | "code"> & { minute: number }): boolean {
    if (minute !== this.#minute) [this.#minute, this.#size, this.#pairs] = [minute, 0, new Map()];
    const pair = `${key} ${code}`;
    const pairs = this.#pairs.get(workspace) ?? new Set();
    if (pairs.has(pair)) return true;
    if (pairs.size >= limits.refusedPairsMax || this.#size >= limits.refusedCountsWaitingMax) return false;
    this.#pairs.set(workspace, pairs.add(pair));
    this.#size++;
    return true;
  }
}

function rowOf(call: RefusedCall & Pick<RefusedRow, "workspace" | "key">, nowMs: number): RefusedRow {
  return { ...call, id: newRequestId(nowMs), at: new Date(nowMs) };
}

/** Until disposed, deletes what is older than 31 days: in every process that meters, once a minute. */
export function startForgettingRefusals({ sql, clock, log }: RefusedParts): AsyncDisposable {
  return repeatUntilStopped({
    clock,
    round: (signal) => forgetRefusals({ sql, clock }, signal),
    everyMs: limits.refusedForgetMs,
    onError: (error) =>
      log.warn({ event: "refusals.not_deleted", code: errorCode(error) }, "Old refused calls could not be deleted"),
  });
}

/** Deletes what is older than 31 days. */
export async function forgetRefusals({ sql, clock }: Pick<RefusedParts, "sql" | "clock">, signal?: AbortSignal): Promise<void> {
  const beforeMs = clock.now() - limits.refusedDays * 86_400_000;
  for (let isMore = true; isMore && !signal?.aborted;)
    isMore = await deleteOldRefusals({ beforeMs, limit: limits.refusedForgetRowsMax }, sql);
}
