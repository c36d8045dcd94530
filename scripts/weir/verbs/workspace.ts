import { listOrNone, numberOrNone, onOff, text, usd, usdOrNone } from "../value.ts";
import { ofWorkspace, workspace, type Verb } from "../verb.ts";

const one = { ...ofWorkspace, field: "id" };

export const workspaceVerbs: readonly Verb[] = [
  {
    noun: "workspace",
    verb: "create",
    summary: "Create a workspace: enabled, with fallbacks, everything else off",
    method: "POST",
    path: "/workspaces",
    flags: [
      { name: "name", field: "name", value: text, required: true, help: "its name, which must be unique" },
      { name: "credit", field: "credit_usd", value: usd, help: "its first credit" },
    ],
  },
  {
    noun: "workspace",
    verb: "list",
    summary: "List workspaces, oldest first",
    method: "GET",
    path: "/workspaces",
    flags: [workspace],
    columns: ["id", "name", "enabled", "balance_usd", "reserved_usd", "month_spent_usd", "spend_limit_usd"],
  },
  { noun: "workspace", verb: "show", summary: "Show a workspace", method: "GET", path: "/workspaces/:id", flags: [one] },
  {
    noun: "workspace",
    verb: "set",
    summary: "Change settings of a workspace; omitted ones stay",
    method: "PATCH",
    path: "/workspaces/:id",
    flags: [
      one,
      { name: "enabled", field: "enabled", value: onOff, help: "whether its keys may be used and created" },
      { name: "spend-limit", field: "spend_limit_usd", value: usdOrNone, help: "the most it may spend in a month (UTC)" },
      {
        name: "daily-spend-limit",
        field: "daily_spend_limit_usd",
        value: usdOrNone,
        help: "the most it may spend in a day (UTC)",
      },
      { name: "fallbacks", field: "fallbacks", value: onOff, help: "whether a failed provider call is tried once more" },
      {
        name: "zero-data-retention",
        field: "zero_data_retention",
        value: onOff,
        help: "whether only providers that store nothing serve it",
      },
      { name: "prompt-storage", field: "prompt_storage", value: onOff, help: "whether prompts and answers are stored" },
      {
        name: "prompt-retention-days",
        field: "prompt_retention_days",
        value: numberOrNone,
        help: "after how many days stored prompts are deleted",
      },
      { name: "cost-in-answers", field: "cost_in_answers", value: onOff, help: "whether the usage in answers has the charge" },
      {
        name: "own-key-fallback",
        field: "own_key_fallback",
        value: onOff,
        help: "whether other providers serve on credit where an own provider key fails",
      },
      { name: "early-access", field: "early_access", value: listOrNone, help: "early-access features, separated by commas" },
    ],
  },
  {
    noun: "workspace",
    verb: "retention",
    summary: "List the models that a workspace can call only while zero data retention is off",
    method: "GET",
    path: "/workspaces/:id/retention",
    flags: [one],
  },
];
