import { id } from "./value.ts";
import type { Verb } from "./verb.ts";

export const modelVerbs: readonly Verb[] = [
  {
    noun: "model",
    verb: "list",
    summary: "List the catalog's models and why those that cannot be called cannot",
    method: "GET",
    path: "/models",
    flags: [{ name: "id", field: "id", value: id, help: "only this model" }],
    columns: ["id", "name", "provider", "context_length", "availability", "runnable", "unavailable_reason"],
  },
];
