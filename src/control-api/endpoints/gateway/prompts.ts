import { Type } from "@sinclair/typebox";
import { promptDeletionMsMax } from "../../limits.ts";
import {
  countStoredPrompts,
  deleteOnePrompt,
  deletePromptsOf,
  PromptCount,
  PromptDeletion,
  PromptsDeleted,
  PromptView,
  findPromptWorkspace,
  promptNotFound,
  showPrompt,
} from "../../../gateway/prompts/prompts.ts";
import { DomainError } from "../../../accounts/errors.ts";
import type { ActorResolver } from "../../actor-resolver.ts";
import { endpoint, type EndpointCall, type Endpoint } from "../../endpoint.ts";
import { NamedWorkspace, NoFields, withOptionalWorkspace } from "../../fields.ts";

type Entering = Pick<EndpointCall<unknown>, "id" | "actors" | "parts"> & { named: string | undefined };

/** The actor on a stored prompt, and its workspace. */
async function promptAndActor({ id, named, actors, parts }: Entering): ReturnType<ActorResolver["forResource"]> {
  const workspace = await findPromptWorkspace(id, parts.sql);
  return actors.forResource({ named, workspace, unknown: promptNotFound(id) });
}

export const promptEndpoints: Endpoint[] = [
  endpoint({
    method: "GET",
    path: "/prompts",
    summary: "Count a workspace's stored prompts",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: PromptCount,
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      return countStoredPrompts({ actor, workspace: workspace.id }, parts.sql);
    },
  }),
  endpoint({
    method: "GET",
    path: "/prompts/:id",
    summary: "Show the stored prompt of a generation, with its answer",
    fields: withOptionalWorkspace(NoFields),
    view: PromptView,
    async handle({ input, id, actors, parts }) {
      const { actor, workspace } = await promptAndActor({ id, named: input.workspace, actors, parts });
      actors.requireRecentSignIn("read a stored prompt");
      return showPrompt({ actor, workspace: workspace.id, generation: id }, parts);
    },
  }),
  endpoint({
    method: "POST",
    path: "/prompts/delete",
    summary: "Delete the stored prompt of a generation, or those of a workspace from before a time, irrevocably",
    fields: withOptionalWorkspace(PromptDeletion),
    view: PromptsDeleted,
    deadlineMs: promptDeletionMsMax,
    async handle({ input: { workspace: named, id, before }, actors, parts }) {
      actors.requireRecentSignIn("delete stored prompts");
      if (id !== undefined && before === undefined) {
        const { actor, workspace } = await promptAndActor({ id, named, actors, parts });
        return deleteOnePrompt({ actor, workspace: workspace.id, generation: id }, parts);
      }
      if (id === undefined && before !== undefined && named !== undefined) {
        const { actor, workspace } = await actors.inWorkspace(named);
        return deletePromptsOf({ actor, workspace: workspace.id, before }, parts);
      }
      const message = "Name a generation by its id, or a workspace and the time before which to delete its prompts";
      throw new DomainError("invalid_field", message, { field: id === undefined ? "before" : "id" });
    },
  }),
];
