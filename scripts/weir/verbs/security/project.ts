import { ofWorkspace } from "../../flags.ts";
import { text, textOrNone } from "../../value.ts";
import type { Verb } from "../../verb.ts";

export const projectVerbs: readonly Verb[] = [
  {
    noun: "project",
    verb: "list",
    summary: "List projects by name",
    method: "GET",
    path: "/projects",
    flags: [ofWorkspace],
    columns: ["id", "name", "provider", "scan_status", "scan_queue_position", "product_id", "last_scanned_at"],
  },
  {
    noun: "project",
    verb: "set",
    summary: "Move a project into another product, or into none",
    method: "PATCH",
    path: "/projects/:id",
    flags: [
      ofWorkspace,
      { name: "project", field: "id", value: text, required: true, help: "id or exact name of the project" },
      { name: "product", field: "product", value: textOrNone, required: true, help: "id or exact name of the product, or none" },
    ],
  },
];
