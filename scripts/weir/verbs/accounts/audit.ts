import { workspace } from "../../flags.ts";
import { rows, text } from "../../value.ts";
import type { Verb } from "../../verb.ts";

export const auditVerbs: readonly Verb[] = [
  {
    noun: "audit",
    verb: "list",
    summary: "List changes and who made them, newest first",
    method: "GET",
    path: "/audit",
    flags: [
      workspace,
      { name: "event", field: "event", value: text, help: "only this event, such as auth.api.key.updated" },
      { name: "limit", field: "limit", value: rows, help: "how many, 1 to 1000; default 1000" },
    ],
    columns: ["at", "event", "actor", "role", "carried_by", "target", "changes"],
  },
];
