import { id, oneOf, rows } from "../value.ts";
import { ofWorkspace, type Verb } from "../verb.ts";

export const ticketVerbs: readonly Verb[] = [
  {
    noun: "ticket",
    verb: "list",
    summary: "List the tickets of a workspace, newest first",
    method: "GET",
    path: "/tickets",
    flags: [
      ofWorkspace,
      { name: "type", field: "type", value: oneOf("feedback", "bug", "support"), help: "only those of this type" },
      {
        name: "status",
        field: "status",
        value: oneOf("open", "in_progress", "resolved", "closed"),
        help: "only those of this status",
      },
      { name: "limit", field: "limit", value: rows, help: "how many, 1 to 200; default 25" },
      { name: "before", field: "before", value: id, help: "only those older than this ticket" },
    ],
    columns: ["reference", "type", "status", "subject", "owner", "created_at"],
  },
];
