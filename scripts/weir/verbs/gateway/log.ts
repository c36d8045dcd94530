import { withId, workspace } from "../../flags.ts";
import { ageOrDate, email, id, number, oneOf, rows, text, time } from "../../value.ts";
import { printLog } from "../../text/print-log.ts";
import type { Verb } from "../../verb.ts";

export const logVerbs: readonly Verb[] = [
  {
    noun: "log",
    verb: "list",
    summary: "List ended generations, newest first",
    method: "GET",
    path: "/log",
    flags: [
      workspace,
      { name: "key", field: "key", value: id, help: "only those of this key" },
      {
        name: "member",
        field: "member",
        value: email,
        help: "only those of this member, with keys or in the Workbench, by email",
      },
      { name: "model", field: "model", value: text, help: "only those of this model, in the workspace or of the key" },
      { name: "from", field: "from", value: time, help: "only those accepted from this time on, such as 2026-11-20T00:00:00Z" },
      {
        name: "since",
        field: "from",
        value: ageOrDate,
        help: "the same as --from, also as a date or an age such as 30m, 24h or 7d",
      },
      { name: "to", field: "to", value: time, help: "only those accepted before this time" },
      { name: "status", field: "status", value: oneOf("ok", "error"), help: "only those that went well, or that failed" },
      { name: "code", field: "code", value: text, help: "only those with this code of an error" },
      { name: "limit", field: "limit", value: rows, help: "how many, 1 to 1000; default 100" },
      { name: "before", field: "before", value: id, help: "only those older than this generation" },
    ],
    show: printLog,
    example: "--workspace default --since 24h --status error --limit 20",
  },
  {
    noun: "log",
    verb: "retain",
    summary: "Delete older months of the log and keep their sums",
    method: "POST",
    path: "/log/retain",
    flags: [
      {
        name: "months",
        field: "months",
        value: number,
        required: true,
        help: "how many months before the current one are kept, at least 2",
      },
    ],
    confirm: "Deleted rows cannot be restored",
    progress: ({ month, generations, bytes }) => `${String(month)}: ${String(generations)} generations, ${String(bytes)} bytes`,
  },
  {
    noun: "log",
    verb: "show",
    summary: "Show an ended generation",
    method: "GET",
    path: "/log/:id",
    flags: [withId("id of the generation, as in X-Generation-Id"), workspace],
  },
];
