import { promptDeletionMsMax } from "../limits.ts";
import { deleteOnePrompt, deletePromptsOf } from "../../gateway/prompts/delete.ts";
import { PromptDeletion, PromptsDeleted, PromptView } from "../../gateway/prompts/schema.ts";
import { findPromptWorkspace, promptNotFound, showPrompt } from "../../gateway/prompts/show.ts";
import { DomainError } from "../../accounts/errors.ts";
import type { Acting } from "../acting.ts";
import { endpoint, type Call, type Endpoint } from "../endpoint.ts";
import { NoFields, perhapsInWorkspace } from "../fields.ts";

type Entering = Pick<Call<unknown>, "id" | "acting" | "parts"> & { named: string | undefined };

/** Who acts on the stored prompt, and where. */
async function enter({ id, named, acting, parts }: Entering): ReturnType<Acting["around"]> {
  const workspace = await findPromptWorkspace(id, parts.sql);
  return acting.around({ named, workspace, unknown: promptNotFound(id) });
}

export const promptEndpoints: Endpoint[] = [
  endpoint({
    method: "GET",
    path: "/prompts/:id",
    summary: "Show the stored prompt of a generation, with its answer",
    fields: perhapsInWorkspace(NoFields),
    view: PromptView,
    async handle({ input, id, acting, parts }) {
      const { actor, workspace } = await enter({ id, named: input.workspace, acting, parts });
      return showPrompt({ actor, workspace: workspace.id, generation: id }, parts);
    },
  }),
  endpoint({
    method: "POST",
    path: "/prompts/delete",
    summary: "Delete the stored prompt of a generation, or those of a workspace from before a time, for good",
    fields: perhapsInWorkspace(PromptDeletion),
    view: PromptsDeleted,
    deadlineMs: promptDeletionMsMax,
    async handle({ input: { workspace: named, id, before }, acting, parts }) {
      if (id !== undefined && before === undefined) {
        const { actor, workspace } = await enter({ id, named, acting, parts });
        return deleteOnePrompt({ actor, workspace: workspace.id, generation: id }, parts);
      }
      if (id === undefined && before !== undefined && named !== undefined) {
        const { actor, workspace } = await acting.in(named);
        return deletePromptsOf({ actor, workspace: workspace.id, before }, parts);
      }
      const message = "Name a generation by its id, or a workspace and the time before which its prompts are to be deleted";
      throw new DomainError("invalid_field", message, { field: id === undefined ? "before" : "id" });
    },
  }),
];
