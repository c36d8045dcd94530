import { ofWorkspace } from "../../flags.ts";
import { text } from "../../value.ts";
import type { Verb } from "../../verb.ts";

export const productVerbs: readonly Verb[] = [
  {
    noun: "product",
    verb: "create",
    summary: "Create a product, which groups projects",
    method: "POST",
    path: "/products",
    flags: [ofWorkspace, { name: "name", field: "name", value: text, required: true, help: "its display name" }],
  },
  {
    noun: "product",
    verb: "list",
    summary: "List products by name",
    method: "GET",
    path: "/products",
    flags: [ofWorkspace],
    columns: ["id", "name", "projects_count", "sboms_count", "posture"],
  },
];
