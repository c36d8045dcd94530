import { withId, workspace } from "../flags.ts";
import { id, rows } from "../value.ts";
import type { Verb } from "../verb.ts";

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
      { name: "limit", field: "limit", value: rows, help: "how many, 1 to 1000; default 100" },
      { name: "before", field: "before", value: id, help: "only those older than this generation" },
    ],
    columns: ["at", "generation_id", "model", "status", "code", "prompt_tokens", "completion_tokens", "cost_usd", "duration_ms"],
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
