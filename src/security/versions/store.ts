/**
 * The SQL of packages. A package keeps its first spelling; equal keys are one package. New packages are written in a fixed order, so that
 * two writers never deadlock.
 */
import { arrayText } from "../../backing/sql-text.ts";
import type { Queries } from "../../backing/backing.ts";
import { byCodeUnits } from "../../kernel/text.ts";
import { type Ecosystem, packageIdentity, packageKey, type PackageName } from "./ecosystem.ts";

/** Returns the ids of these packages and creates missing ones. Call it once per transaction. @returns by `packageIdentity` */
export async function packageIds(names: readonly PackageName[], sql: Queries): Promise<Map<string, bigint>> {
  const rows = new Map(names.map((name) => [packageIdentity(name), rowOf(name)]));
  const ids = await selectIds([...rows.values()], sql);
  const missing = [...rows.values()].filter(({ identity }) => !ids.has(identity));
  if (missing.length === 0) return ids;
  await insertPackages(
    missing.toSorted((one, other) => byCodeUnits(one.identity, other.identity)),
    sql,
  );
  // A second statement, because an insert does not see what another writer committed while it waited.
  for (const [identity, id] of await selectIds(missing, sql)) ids.set(identity, id);
  return ids;
}

/** These packages, and Go modules whose names differ only in case: advisories about one may apply to the other. */
export async function withOtherSpellings(ids: readonly bigint[], sql: Queries): Promise<bigint[]> {
  const rows = await sql<{ id: bigint }[]>`
    SELECT other.id
    FROM packages AS given
    JOIN packages AS other ON other.ecosystem = 'Go' AND lower(other.key) = lower(given.key) AND other.id <> given.id
    WHERE given.ecosystem = 'Go' AND given.id = ANY (${arrayText(ids, (id) => id)}::bigint[])`;
  return [...new Set([...ids, ...rows.map(({ id }) => id)])];
}

interface PackageRow {
  /** `${ecosystem} ${packageKey}`. */
  identity: string;
  ecosystem: Ecosystem;
  key: string;
  name: string;
}

function rowOf(name: PackageName): PackageRow {
  return { identity: packageIdentity(name), ecosystem: name.ecosystem, key: packageKey(name), name: name.name };
}

async function selectIds(rows: readonly PackageRow[], sql: Queries): Promise<Map<string, bigint>> {
  const found = await sql<{ ecosystem: Ecosystem; key: string; id: bigint }[]>`
    SELECT ecosystem, key, id FROM packages
    WHERE (ecosystem, key) IN (
      SELECT * FROM unnest(${arrayText(rows, ({ ecosystem }) => ecosystem)}::text[], ${arrayText(rows, ({ key }) => key)}::text[]))`;
  return new Map(found.map(({ ecosystem, key, id }) => [`${ecosystem} ${key}`, id]));
}

async function insertPackages(rows: readonly PackageRow[], sql: Queries): Promise<void> {
  await sql`
    INSERT INTO packages (ecosystem, key, name)
    SELECT ecosystem, key, name
    FROM unnest(
      ${arrayText(rows, ({ ecosystem }) => ecosystem)}::text[], ${arrayText(rows, ({ key }) => key)}::text[],
      ${arrayText(rows, ({ name }) => name)}::text[]) WITH ORDINALITY AS row (ecosystem, key, name, place)
    ORDER BY place
    ON CONFLICT (ecosystem, key) DO NOTHING`;
}
