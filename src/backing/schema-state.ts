import { Type, type Static } from "@sinclair/typebox";
import type { Database } from "./backing.ts";
import { readMigrations } from "./migrate.ts";

export const SchemaView = Type.Object({
  newest: Type.Union([Type.String(), Type.Null()], {
    description: "The last migration that the database has; null: it has none",
  }),
  missing: Type.Array(Type.String(), { description: "Migrations of this version that the database lacks" }),
  unknown: Type.Array(Type.String(), { description: "Migrations of the database that this version does not know" }),
});
export type SchemaView = Static<typeof SchemaView>;

/** Compares the database with this version. @throws when the database does not answer */
export async function readSchemaState(sql: Database): Promise<SchemaView> {
  const known = (await readMigrations()).map(({ name }) => name);
  const [table] = await sql<{ exists: boolean }[]>`SELECT to_regclass('migrations') IS NOT NULL AS exists`;
  const rows = table?.exists ? await sql<{ name: string }[]>`SELECT name FROM migrations ORDER BY name` : [];
  const applied = rows.map(({ name }) => name);
  return {
    newest: applied.at(-1) ?? null,
    missing: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  };
}
