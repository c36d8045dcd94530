/**
 * The SQL of second factors and recovery codes. The row is locked while a code is checked, so that codes of one account are checked one
 * after another.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";
import { byteaText } from "../../backing/sql-text.ts";
import type { Role } from "../audit/actor.ts";

export interface SecondFactorRow {
  email: string;
  /** null: none is confirmed. */
  sealed: Uint8Array | null;
  pendingSealed: Uint8Array | null;
  pendingAt: Date | null;
  lastStep: number;
  wrongInRow: number;
  wrongInWindow: number;
  windowAt: Date | null;
}

/** Locks the row until the transaction ends, so that codes of one account are checked one after another. */
export async function lockSecondFactor(email: string, tx: Transaction): Promise<SecondFactorRow | undefined> {
  const [row] = await tx<SecondFactorRow[]>`${columns(tx)} WHERE email = ${email} FOR UPDATE`;
  return row;
}

/** Locks the next rows in order of addresses until the transaction ends. */
export async function lockSecondFactors(
  { after, limit }: { after: string; limit: number },
  tx: Transaction,
): Promise<SecondFactorRow[]> {
  return tx<SecondFactorRow[]>`${columns(tx)} WHERE email > ${after} ORDER BY email LIMIT ${limit} FOR UPDATE`;
}

/** Stores a new secret in addition to the one in use. It replaces an earlier one that never got a code. */
export async function upsertPending(
  { email, sealed, at }: { email: string; sealed: Uint8Array; at: number },
  sql: Queries,
): Promise<void> {
  await sql`
    INSERT INTO second_factors (email, pending_sealed, pending_at) VALUES (${email}, ${Buffer.from(sealed)}, ${new Date(at)})
    ON CONFLICT (email) DO UPDATE SET pending_sealed = excluded.pending_sealed, pending_at = excluded.pending_at`;
}

/** Activates the pending secret; new recovery codes replace all old ones. */
export async function confirmPending(
  { email, step, hashes, at }: { email: string; step: number; hashes: readonly string[]; at: number },
  tx: Transaction,
): Promise<void> {
  await tx`
    UPDATE second_factors SET sealed = pending_sealed, confirmed_at = ${new Date(at)}, pending_sealed = NULL, pending_at = NULL,
      last_step = greatest(last_step, ${step}), wrong_in_row = 0, wrong_in_window = 0
    WHERE email = ${email}`;
  await tx`DELETE FROM recovery_codes WHERE email = ${email}`;
  await tx`INSERT INTO recovery_codes (email, hash) SELECT ${email}, unnest(${[...hashes]}::text[])`;
}

/** @param step null: the code was a recovery code */
export async function recordRightCode({ email, step }: { email: string; step: number | null }, tx: Transaction): Promise<void> {
  await tx`
    UPDATE second_factors SET last_step = greatest(last_step, ${step ?? 0}), wrong_in_row = 0, wrong_in_window = 0
    WHERE email = ${email}`;
}

export async function updateWrongCodes(
  { email, wrongInRow, wrongInWindow, windowAt }: Pick<SecondFactorRow, "email" | "wrongInRow" | "wrongInWindow" | "windowAt">,
  tx: Transaction,
): Promise<void> {
  await tx`
    UPDATE second_factors SET wrong_in_row = ${wrongInRow}, wrong_in_window = ${wrongInWindow}, window_at = ${windowAt}
    WHERE email = ${email}`;
}

/** @returns false if there is no such code */
export async function deleteRecoveryCode({ email, hash }: { email: string; hash: string }, tx: Transaction): Promise<boolean> {
  const deleted = await tx`DELETE FROM recovery_codes WHERE email = ${email} AND hash = ${hash}`;
  return deleted.count === 1;
}

/** Also deletes the recovery codes. @returns whether one was confirmed; false if there was none at all */
export async function deleteSecondFactor(email: string, tx: Transaction): Promise<boolean> {
  const deleted = await tx<{ sealed: Uint8Array | null }[]>`DELETE FROM second_factors WHERE email = ${email} RETURNING sealed`;
  return deleted.some(({ sealed }) => sealed !== null);
}

interface SecondFactorStatus {
  /** When it was confirmed; null: none is. */
  since: Date | null;
  recoveryCodesLeft: number;
  /** The person's roles, in workspaces where the membership is active. */
  roles: Role[];
}

export async function selectStatus(email: string, sql: Queries): Promise<SecondFactorStatus> {
  const [row] = await sql<SecondFactorStatus[]>`
    SELECT (SELECT confirmed_at FROM second_factors WHERE email = ${email}) AS since,
      (SELECT count(*)::integer FROM recovery_codes WHERE email = ${email}) AS "recoveryCodesLeft",
      coalesce((SELECT array_agg(DISTINCT role) FROM members WHERE email = ${email} AND active), '{}') AS roles`;
  return row ?? { since: null, recoveryCodesLeft: 0, roles: [] };
}

export interface ResealedRow {
  email: string;
  sealed: Uint8Array | null;
  pendingSealed: Uint8Array | null;
}

export async function updateSealed(rows: readonly ResealedRow[], tx: Transaction): Promise<void> {
  const texts = (read: (row: ResealedRow) => Uint8Array | null) =>
    rows.map((row) => {
      const bytes = read(row);
      return bytes === null ? null : byteaText(bytes);
    });
  await tx`
    UPDATE second_factors SET sealed = new.sealed, pending_sealed = new.pending
    FROM unnest(${rows.map(({ email }) => email)}::text[], ${texts(({ sealed }) => sealed)}::text[]::bytea[],
      ${texts(({ pendingSealed }) => pendingSealed)}::text[]::bytea[]) AS new (email, sealed, pending)
    WHERE second_factors.email = new.email`;
}

/** `hash` is null if the account has no password; undefined: there is no such active account. */
export async function selectHashOfAccount(email: string, sql: Queries): Promise<{ hash: string | null } | undefined> {
  const [row] = await sql<{ hash: string | null }[]>`
    SELECT password_hash AS hash FROM accounts WHERE email = ${email} AND state = 'active'`;
  return row;
}

function columns(sql: Queries) {
  return sql`
    SELECT email, sealed, pending_sealed AS "pendingSealed", pending_at AS "pendingAt", last_step::float8 AS "lastStep",
      wrong_in_row AS "wrongInRow", wrong_in_window AS "wrongInWindow", window_at AS "windowAt"
    FROM second_factors`;
}
