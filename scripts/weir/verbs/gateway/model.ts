import { importKinds, importModels } from "../../model-import.ts";
import { workspace } from "../../flags.ts";
import { id, oneOf, text, yes } from "../../value.ts";
import type { Flag, Verb } from "../../verb.ts";

const oneModel: Flag = { name: "id", field: "id", value: id, help: "only this model" };
const columns = ["id", "name", "provider", "context_length", "availability", "runnable", "unavailable_reason"];

export const modelVerbs: readonly Verb[] = [
  {
    noun: "model",
    verb: "list",
    summary: "List the catalog's models, and why some cannot be called",
    method: "GET",
    path: "/models",
    flags: [oneModel, workspace],
    columns,
  },
  {
    noun: "model",
    verb: "check",
    summary: "Run the launch checks again and wait for them; each is a test call that costs a few tokens",
    method: "POST",
    path: "/models/check",
    flags: [oneModel],
    columns,
    progress: ({ model, provider, code }) =>
      `${String(model)} by ${String(provider)}: ${code === null ? "passed" : String(code)}`,
  },
  {
    noun: "model",
    verb: "import",
    summary: "Print how an api.json of models.dev differs from the files of CATALOG_DIR; --write changes the files",
    operand: { field: "source", placeholder: "FILE", help: "a copy of https://models.dev/api.json" },
    flags: [
      { name: "provider", field: "provider", value: text, help: "only this provider of providers.json" },
      { name: "changes", field: "changes", value: oneOf(...importKinds), help: "only these changes; default: all" },
      {
        name: "write",
        field: "write",
        value: yes,
        help: "change the files, unless a check of them would fail; terms stay as they are",
      },
    ],
    local: importModels,
  },
];
