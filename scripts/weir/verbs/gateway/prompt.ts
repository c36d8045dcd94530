import { ofWorkspace, withId, workspace } from "../../flags.ts";
import { id, time } from "../../value.ts";
import type { Verb } from "../../verb.ts";

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
