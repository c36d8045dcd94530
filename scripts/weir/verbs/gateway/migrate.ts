import { readMigrationConfig } from "../../../../src/config.ts";
import { migrateSchema } from "../../migrate-schema.ts";
import { yes } from "../../value.ts";
import type { Verb } from "../../verb.ts";

/** The move of twenty million rows takes a quarter of an hour. */
const dayMs = 86_400_000;

export const migrateVerbs: readonly Verb[] = [
  {
    noun: "migrate",
    verb: "",
    summary: "Bring the database of DATABASE_URL to this version's schema; no process of Weir needs to run",
    flags: [],
    local: () => migrateSchema(readMigrationConfig().databaseUrl),
  },
  {
    noun: "migrate",
    verb: "rows",
    summary: "Move the rows of the version before to their new table, and wait until they are moved",
    method: "POST",
    path: "/migrate",
    flags: [
      {
        name: "finish",
        field: "finish",
        value: yes,
        help: "then drop the older tables: no process of the version before may run",
      },
    ],
    msMax: dayMs,
    progress: ({ moved, total }) => `${String(moved)} of ${String(total)} generations`,
  },
];
