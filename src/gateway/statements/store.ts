/**
 * All SQL of stored statements. A trigger refuses to change or delete them. `ledger verify` hashes them again (metering/verify-store.ts).
 * The lock under which a workspace's statements are closed is here too.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";
import type { Month } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";

/** The part of a statement that a list shows. */
export interface StatementSums {
  number: Month;
  opening: NanoUsd;
  credits: NanoUsd;
  refunds: NanoUsd;
  charges: NanoUsd;
  closing: NanoUsd;
}

interface StoredSums extends StatementSums {
  sha256: string;
  closedAt: Date;
}

interface StoredStatement extends StatementSums {
  workspace: WorkspaceId;
  from: bigint;
  to: bigint;
  document: string;
  sha256: string;
  /** Milliseconds. */
  closedAt: number;
}

/** @throws an error with SQLSTATE 23505 or 40001 when another process has closed the month meanwhile */
export async function insertStatement(statement: StoredStatement, tx: Transaction): Promise<void> {
  const { workspace, number, from, to, opening, credits, refunds, charges, closing, document, sha256, closedAt } = statement;
  await tx`
    INSERT INTO usage_statements (workspace_id, number, from_sequence, to_sequence, opening_nano, credits_nano, refunds_nano, charges_nano,
      closing_nano, document, sha256, closed_at)
    VALUES (${workspace}, ${number}, ${from}, ${to}, ${opening}, ${credits}, ${refunds}, ${charges}, ${closing}, ${document}, ${sha256},
      ${new Date(closedAt)})`;
}

/** The last statement that closed; undefined: none has. */
export async function selectLast(
  workspace: WorkspaceId,
  sql: Queries,
): Promise<{ number: Month; to: bigint; closing: NanoUsd } | undefined> {
  const [row] = await sql<{ number: Month; to: bigint; closing: NanoUsd }[]>`
    SELECT number, to_sequence AS to, closing_nano AS closing FROM usage_statements
    WHERE workspace_id = ${workspace} ORDER BY number DESC LIMIT 1`;
  return row;
}

export async function selectName(workspace: WorkspaceId, sql: Queries): Promise<string> {
  const [row] = await sql<{ name: string }[]>`SELECT name FROM workspaces WHERE id = ${workspace}`;
  return row?.name ?? "";
}

/** Newest first. */
export async function selectSumsOf(
  { workspace, before, limit }: { workspace: WorkspaceId; before: Month | null; limit: number },
  sql: Queries,
): Promise<StoredSums[]> {
  return sql<StoredSums[]>`
    SELECT number, opening_nano AS opening, credits_nano AS credits, refunds_nano AS refunds, charges_nano AS charges, closing_nano AS closing,
      sha256, closed_at AS "closedAt"
    FROM usage_statements WHERE workspace_id = ${workspace} ${before === null ? sql`` : sql`AND number < ${before}`}
    ORDER BY number DESC LIMIT ${limit}`;
}

export async function selectDocument(
  { workspace, number }: { workspace: WorkspaceId; number: Month },
  sql: Queries,
): Promise<{ document: string; sha256: string } | undefined> {
  const [row] = await sql<{ document: string; sha256: string }[]>`
    SELECT document, sha256 FROM usage_statements WHERE workspace_id = ${workspace} AND number = ${number}`;
  return row;
}

export interface DueWorkspace {
  workspace: WorkspaceId;
  /** The month of its last statement; null: it has none. */
  last: Month | null;
  firstEntryAt: Date;
}

/**
 * Workspaces whose statement of this month, or of one before, has not closed, in the order of their ids.
 * @param monthEnd the month's end: a chain that begins later has nothing to close
 */
export async function selectDue(
  {
    month,
    monthEnd,
    workspace,
    after,
    limit,
  }: { month: Month; monthEnd: Date; workspace: WorkspaceId | null; after: WorkspaceId; limit: number },
  sql: Queries,
): Promise<DueWorkspace[]> {
  return sql<DueWorkspace[]>`
    SELECT account.workspace_id AS workspace, last.number AS last, first.at AS "firstEntryAt"
    FROM credit_accounts AS account
    JOIN ledger_entries AS first ON first.workspace_id = account.workspace_id AND first.sequence = 1
    LEFT JOIN LATERAL (
      SELECT number FROM usage_statements AS statement
      WHERE statement.workspace_id = account.workspace_id ORDER BY number DESC LIMIT 1
    ) AS last ON true
    WHERE account.workspace_id > ${after} ${workspace === null ? sql`` : sql`AND account.workspace_id = ${workspace}`}
      AND first.at < ${monthEnd} AND (last.number IS NULL OR last.number < ${month})
    ORDER BY account.workspace_id LIMIT ${limit}`;
}

/** Tries the lock under which this workspace's statements are closed. @returns whether the transaction has it */
export async function becomeCloser(workspace: WorkspaceId, tx: Transaction): Promise<boolean> {
  const [lock] = await tx<{ taken: boolean }[]>`
    SELECT pg_try_advisory_xact_lock(hashtext('usage statement'), hashtext(${workspace})) AS taken`;
  return lock?.taken === true;
}

// Who sells and who buys

export interface PartyRow {
  name: string;
  address: string;
  taxNumber: string;
  taxName: string;
  /** In hundredths of a percent; null: no rate is set. */
  taxBasisPoints: number | null;
}

const noParty: PartyRow = { name: "", address: "", taxNumber: "", taxName: "", taxBasisPoints: null };

const partyColumns = (sql: Queries) => sql`
  SELECT name, address, tax_number AS "taxNumber", tax_name AS "taxName", tax_basis_points AS "taxBasisPoints" FROM billing_parties`;

/** @param subject a workspace, which buys; empty: the operator, who sells */
export async function selectParty(subject: string, sql: Queries): Promise<PartyRow> {
  const [row] = await sql<PartyRow[]>`${partyColumns(sql)} WHERE workspace_id = ${subject}`;
  return row ?? noParty;
}

/** Also locks it against other changes until the transaction ends. */
export async function lockParty(subject: string, tx: Transaction): Promise<PartyRow> {
  await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`billing party ${subject}`}, 0))`;
  return selectParty(subject, tx);
}

export async function upsertParty(subject: string, row: PartyRow, tx: Transaction): Promise<void> {
  await tx`
    INSERT INTO billing_parties (workspace_id, name, address, tax_number, tax_name, tax_basis_points)
    VALUES (${subject}, ${row.name}, ${row.address}, ${row.taxNumber}, ${row.taxName}, ${row.taxBasisPoints})
    ON CONFLICT (workspace_id) DO UPDATE SET name = excluded.name, address = excluded.address, tax_number = excluded.tax_number,
      tax_name = excluded.tax_name, tax_basis_points = excluded.tax_basis_points`;
}

/** The workspace's own number, which never changes. */
export async function selectWorkspaceNumber(workspace: WorkspaceId, sql: Queries): Promise<number> {
  const [row] = await sql<{ number: number }[]>`SELECT number FROM workspaces WHERE id = ${workspace}`;
  return row?.number ?? 0;
}
