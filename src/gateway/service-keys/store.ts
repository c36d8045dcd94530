/**
 * SQL of the operator's decisions about providers, for those who change and see them. Every process reads the same rows by models/store.ts.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { ProviderDecision } from "../models/decisions.ts";

export interface ServiceProviderRow extends Omit<ProviderDecision, "refused"> {
  lastFour: string | null;
  testedAt: Date | null;
  /** The outcome of that test. */
  tested: string | null;
}

const columns = (sql: Queries) => sql`
  provider_id AS provider, encode(sealed, 'base64') AS sealed, last_four AS "lastFour", terms_checked AS "termsChecked",
  subprocessor_listed AS "subprocessorListed", disabled, tested_at AS "testedAt", tested`;

export async function selectProviderRows(sql: Queries): Promise<ServiceProviderRow[]> {
  return sql<ServiceProviderRow[]>`SELECT ${columns(sql)} FROM service_providers`;
}

/** Changes are rare and take turns, also those that add a row. */
export async function lockProviderRow(provider: string, tx: Transaction): Promise<ServiceProviderRow | undefined> {
  await tx`LOCK TABLE service_providers IN SHARE ROW EXCLUSIVE MODE`;
  const [row] = await tx<ServiceProviderRow[]>`SELECT ${columns(tx)} FROM service_providers WHERE provider_id = ${provider}`;
  return row;
}

/** @param at milliseconds of the change */
export async function upsertProviderRow({ at, ...row }: ServiceProviderRow & { at: number }, tx: Transaction): Promise<void> {
  const sealed = row.sealed === null ? null : Buffer.from(row.sealed, "base64");
  await tx`
    INSERT INTO service_providers (provider_id, sealed, last_four, terms_checked, subprocessor_listed, disabled, tested_at, tested,
      changed_at)
    VALUES (${row.provider}, ${sealed}, ${row.lastFour}, ${row.termsChecked}, ${row.subprocessorListed}, ${row.disabled},
      ${row.testedAt && isoTime(row.testedAt.getTime())}::timestamptz, ${row.tested}, ${isoTime(at)})
    ON CONFLICT (provider_id) DO UPDATE SET sealed = excluded.sealed, last_four = excluded.last_four,
      terms_checked = excluded.terms_checked, subprocessor_listed = excluded.subprocessor_listed, disabled = excluded.disabled,
      tested_at = excluded.tested_at, tested = excluded.tested, changed_at = excluded.changed_at`;
}

export async function deleteProviderRow(provider: string, tx: Transaction): Promise<void> {
  await tx`DELETE FROM service_providers WHERE provider_id = ${provider}`;
}

/** Keys that SECRETS_KEY seals directly, locked until the transaction ends. */
export async function lockSealedKeys(tx: Transaction): Promise<{ provider: string; sealed: Uint8Array }[]> {
  return tx<{ provider: string; sealed: Uint8Array }[]>`
    SELECT provider_id AS provider, sealed FROM service_providers WHERE sealed IS NOT NULL ORDER BY provider_id FOR UPDATE`;
}

export async function updateSealedKey(
  { provider, sealed }: { provider: string; sealed: Uint8Array },
  tx: Transaction,
): Promise<void> {
  await tx`UPDATE service_providers SET sealed = ${Buffer.from(sealed)} WHERE provider_id = ${provider}`;
}

/** Stores what a call showed. @param at milliseconds */
export async function updateTested(
  { provider, outcome, at }: { provider: string; outcome: string; at: number },
  sql: Queries,
): Promise<void> {
  await sql`
    INSERT INTO service_providers (provider_id, disabled, tested_at, tested, changed_at)
    VALUES (${provider}, false, ${isoTime(at)}, ${outcome}, ${isoTime(at)})
    ON CONFLICT (provider_id) DO UPDATE SET tested_at = excluded.tested_at, tested = excluded.tested`;
}
