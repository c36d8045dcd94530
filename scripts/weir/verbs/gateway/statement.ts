import { ofWorkspace, workspace } from "../../flags.ts";
import { printStatement } from "../../print-statement.ts";
import { rows, text } from "../../value.ts";
import type { Verb } from "../../verb.ts";

export const statementVerbs: readonly Verb[] = [
  {
    noun: "statement",
    verb: "list",
    summary: "List a workspace's statements of usage, newest first",
    method: "GET",
    path: "/statements",
    flags: [
      ofWorkspace,
      { name: "limit", field: "limit", value: rows, help: "how many closed ones, 1 to 120; default 24" },
      { name: "before", field: "before", value: text, help: "only months before this one, such as 2026-10" },
    ],
    columns: ["number", "closed", "opening_balance_usd", "credits_usd", "refunds_usd", "charges_usd", "closing_balance_usd"],
  },
  {
    noun: "statement",
    verb: "show",
    summary: "Show the statement of a month",
    method: "GET",
    path: "/statements/:id",
    flags: [{ name: "number", field: "id", value: text, required: true, help: "the month, such as 2026-10" }, ofWorkspace],
    show: printStatement,
  },
  {
    noun: "statement",
    verb: "close",
    summary: "Close the statements of months that are over now, and not within a minute",
    method: "POST",
    path: "/statements/close",
    flags: [workspace],
  },
];
