import { yes } from "../value.ts";
import type { Verb } from "../verb.ts";

export const migrateVerbs: readonly Verb[] = [
  {
    noun: "migrate",
    verb: "",
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
    progress: ({ moved, total }) => `${String(moved)} of ${String(total)} generations`,
  },
];
