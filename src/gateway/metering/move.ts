/** Moves the rows of the version before into `generations`, in the background or while an operator waits. */
import { Type, type Static } from "@sinclair/typebox";
import { DomainError } from "../../accounts/errors.ts";
import type { Database } from "../../backing/backing.ts";
import { sleep, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { observe } from "../../kernel/metrics.ts";
import { embeddedMoveBatchMax, moveBatchMax, moveFinishAttemptsMax, movePauseMs, moveRetryMs } from "../limits.ts";
import { dropFormerTables, moveBatch, selectMove, type MoveState } from "./move-store.ts";

export const MoveView = Type.Object({
  moved: Type.Integer({ description: "Generations that are in the new table" }),
  total: Type.Integer({ description: "Generations that the older tables had" }),
  finished: Type.Boolean({ description: "Whether the older tables are gone; true also where there were none" }),
});
export type MoveView = Static<typeof MoveView>;

interface MoveParts {
  sql: Database;
  clock: Clock;
  /** Charges in one transaction. */
  batchMax?: number;
}

/** Moves until everything is moved, then drops the older tables if `finish` is set. Repeating it continues. */
export async function moveGenerations(
  { sql, clock, batchMax = moveBatchMax }: MoveParts,
  { finish, onMoved, signal }: { finish: boolean; onMoved?: (state: MoveView) => void; signal?: AbortSignal },
): Promise<MoveView> {
  let state = await moveBatch(batchMax, sql);
  let reported: number | null = null;
  for (; state !== null && !state.isMoved && !signal?.aborted; state = await moveBatch(batchMax, sql)) {
    // Another process may be moving: then this one only waits.
    if (state.moved !== reported) report(state, onMoved);
    reported = state.moved;
    await sleep(clock, movePauseMs, signal);
  }
  if (state !== null) report(state, onMoved);
  if (state?.isMoved && finish) await finishMove({ sql, clock });
  return viewOf(await selectMove(sql));
}

let left = 0;
observe("weir_generations_to_move", () => left);

function report(state: MoveState, onMoved?: (state: MoveView) => void): void {
  left = Math.max(0, (state.total ?? 0) - state.moved);
  onMoved?.(viewOf(state));
}

function viewOf(state: MoveState | null): MoveView {
  return { moved: state?.moved ?? 0, total: state?.total ?? 0, finished: state === null };
}

/** A settlement or a reader may hold the tables for a moment. */
async function finishMove({ sql, clock }: MoveParts): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await dropFormerTables(sql);
    } catch (error) {
      if ((await selectMove(sql)) === null) return;
      if (attempt === moveFinishAttemptsMax) throw error;
      await sleep(clock, moveRetryMs);
    }
  }
}

/** @throws DomainError conflict while rows are being moved: what needs all of them has to wait */
export async function requireMoved(sql: Database): Promise<void> {
  const state = await selectMove(sql);
  if (state === null || state.isMoved) return;
  const share = state.total === null ? "" : `: ${state.moved} of ${state.total}`;
  throw new DomainError("conflict", `The generations of the version before are still being moved to their new table${share}`);
}

/** @throws DomainError conflict while the older tables are there: a process that still writes into them writes into all months */
export async function requireFinished(sql: Database): Promise<void> {
  await requireMoved(sql);
  if ((await selectMove(sql)) === null) return;
  throw new DomainError(
    "conflict",
    "The tables of the version before are still there: drop them by `migrate rows --finish` first",
  );
}

interface BackgroundMoveParts extends Omit<MoveParts, "batchMax"> {
  log: Logger;
  /** No other process uses the database: it is moved in short steps, which all other statements wait for, and then finished. */
  isAlone: boolean;
}

/** Moves in the background until everything is moved, whatever fails meanwhile. */
export function startMove(parts: BackgroundMoveParts): AsyncDisposable {
  const stop = new AbortController();
  const ended = moveInBackground(parts, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

async function moveInBackground({ sql, clock, log, isAlone }: BackgroundMoveParts, signal: AbortSignal): Promise<void> {
  const batchMax = isAlone ? embeddedMoveBatchMax : moveBatchMax;
  const onMoved = (state: MoveView): void =>
    log.info({ event: "generations.moving", ...state }, "Generations of the version before are being moved");
  while (!signal.aborted) {
    try {
      const state = await moveGenerations({ sql, clock, batchMax }, { finish: isAlone, onMoved, signal });
      if (state.total > 0) log.info({ event: "generations.moved", ...state }, "Generations of the version before are moved");
      return;
    } catch (error) {
      log.warn({ event: "generations.move.failed", reason: String(error) }, "Generations could not be moved; the move goes on");
      await sleep(clock, moveRetryMs, signal);
    }
  }
}
