/**
 * Limits how many documents a workspace stores, per hour and in total, and how large their rows are. Room is checked before the work on a
 * document begins, and again after its rows are written, so that two transactions never take the last slot together.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { quotaHourMs } from "../../accounts/limits.ts";
import { sbomRowCharactersMax, sbomsPerHourMax, sbomsPerWorkspaceMax } from "../limits.ts";
import { quotaFull, quotaOfHourFull } from "../../accounts/errors.ts";
import { lockQuota } from "../../accounts/quotas/store.ts";
import { hasSbom, selectUsage, selectStoredAt } from "./store.ts";

interface Documents {
  workspace: WorkspaceId;
  /** Milliseconds. */
  now: number;
}

/**
 * Checks for room before the work on a document begins, unless the workspace already has the document.
 * @throws DomainError conflict, LimitReachedError
 */
export async function requireRoomForSbom({ sha256, ...documents }: Documents & { sha256: string }, sql: Queries): Promise<void> {
  try {
    await requireRoom({ ...documents, more: 1 }, sql);
  } catch (error) {
    if (!(await hasSbom({ workspace: documents.workspace, sha256 }, sql))) throw error;
  }
}

/** @throws as `requireRoomForSbom` */
export async function takeRoomForSbom(documents: Documents, tx: Transaction): Promise<void> {
  await lockQuota({ workspace: documents.workspace, counted: "sboms" }, tx);
  await requireRoom({ ...documents, more: 0 }, tx);
}

async function requireRoom({ workspace, now, more }: Documents & { more: number }, sql: Queries): Promise<void> {
  const { documents, characters } = await selectUsage(workspace, sql);
  if (documents + more > sbomsPerWorkspaceMax) {
    throw quotaFull({ what: "SBOMs", max: sbomsPerWorkspaceMax, limit: "sbomsPerWorkspaceMax" });
  }
  if (characters > sbomRowCharactersMax) {
    throw quotaFull({ what: "characters of SBOMs", max: sbomRowCharactersMax, limit: "sbomRowCharactersMax" });
  }
  const stored = { workspace, after: new Date(now - quotaHourMs), offset: sbomsPerHourMax - more };
  const oldest = await selectStoredAt(stored, sql);
  if (oldest === undefined) return;
  throw quotaOfHourFull({ what: "SBOMs", max: sbomsPerHourMax, limit: "sbomsPerHourMax" }, { oldest, now });
}
