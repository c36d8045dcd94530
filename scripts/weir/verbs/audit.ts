import { rows, text, time } from "../value.ts";
import { workspace, type Verb } from "../verb.ts";

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
      { name: "actor", field: "actor", value: text, help: "only changes of this address, of operator or of weir" },
      { name: "from", field: "from", value: time, help: "only from this time on, such as 2026-11-20T00:00:00Z" },
      { name: "to", field: "to", value: time, help: "only before this time" },
      { name: "limit", field: "limit", value: rows, help: "how many, 1 to 1000; default 1000" },
      { name: "before", field: "before", value: text, help: "only rows before this id, for the next page" },
    ],
    columns: ["id", "at", "event", "actor", "role", "carried_by", "target", "changes"],
  },
];
