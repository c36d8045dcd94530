import { ofWorkspace, withId } from "../../flags.ts";
import { rows, text } from "../../value.ts";
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
    flags: [
      ofWorkspace,
      { name: "limit", field: "limit", value: rows, help: "how many, 1 to 10000; default 10000" },
      { name: "offset", field: "offset", value: rows, help: "how many to skip" },
    ],
    columns: ["id", "name", "projects_count", "sboms_count", "posture"],
  },
  {
    noun: "product",
    verb: "show",
    summary: "Show a product",
    method: "GET",
    path: "/products/:id",
    flags: [withId("id or exact name of the product"), ofWorkspace],
  },
];
