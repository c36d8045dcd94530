import { cliColumns } from "../../../src/gateway/generation-fields.ts";
import { formatUsd, parseUsd } from "../../../src/kernel/money.ts";
import { columns, shown } from "../print.ts";
import { ageOrDate, email, id, number, oneOf, rows, text, time } from "../value.ts";
import { withId, workspace, type Verb, ofWorkspace } from "../verb.ts";

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

/** Formats the log for people: a table, and below it the sums of the shown rows and how to go on. */

type Fields = Record<string, unknown>;

export function printLog(body: Fields): string {
  const rows: Fields[] = Array.isArray(body["data"]) ? body["data"] : [];
  const searched = typeof body["searched"] === "number" ? [`${body["searched"]} generations were read to find them`] : [];
  const more = typeof body["next"] === "string" ? [`Older ones: --before ${body["next"]}. Sums of all: weir usage`] : [];
  const below = [...searched, ...more].map((line) => `\n${line}`).join("");
  if (rows.length === 0) return `(none)${below}`;
  return `${columns([
    cliColumns.map((name) => name.toUpperCase()),
    ...rows.map((row) => cliColumns.map((name) => shown(row[name]))),
    cliColumns.map((name) => totalOf(name, rows)),
  ])}${below}`;
}

function totalOf(name: (typeof cliColumns)[number], rows: readonly Fields[]): string {
  if (name === "at") return `(total of ${rows.length})`;
  if (name === "cost_usd") return formatUsd(rows.reduce((sum, row) => sum + parseUsd(String(row[name])), 0n));
  if (name === "status") return `${rows.filter(({ code }) => code !== null).length} failed`;
  if (name !== "prompt_tokens" && name !== "completion_tokens") return "";
  return String(rows.reduce((sum, row) => sum + Number(row[name]), 0));
}

export const promptVerbs: readonly Verb[] = [
  {
    noun: "prompt",
    verb: "show",
    summary: "Show the stored prompt of a generation, with its answer",
    method: "GET",
    path: "/prompts/:id",
    flags: [withId("id of the generation, as in X-Generation-Id"), workspace],
  },
  {
    noun: "prompt",
    verb: "count",
    summary: "Count the stored prompts of a workspace",
    method: "GET",
    path: "/prompts",
    flags: [ofWorkspace],
  },
  {
    noun: "prompt",
    verb: "delete",
    summary: "Delete the stored prompt of a generation (--id), or those of a workspace (--workspace --before), irrevocably",
    method: "POST",
    path: "/prompts/delete",
    flags: [
      { name: "id", field: "id", value: id, help: "the prompt of this generation" },
      workspace,
      {
        name: "before",
        field: "before",
        value: time,
        help: "the prompts of requests before this time, such as 2026-11-20T00:00:00Z",
      },
    ],
  },
];
