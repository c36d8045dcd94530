/**
 * Endpoints for models, their launch checks, and chats of the Workbench. A check calls each route that only its launch check keeps from
 * serving; until it ends, the previous outcome holds. In the Workbench a member spends the workspace's credit: the rules for a key apply to
 * the member, except a key's limits.
 */
import { Type } from "@sinclair/typebox";
import { type Actor, type MemberActor, authorize, writers } from "../../accounts/audit/actor.ts";
import { DomainError } from "../../accounts/errors.ts";
import { selectCallerId } from "../../accounts/members/store.ts";
import { line } from "../../accounts/workspaces/fields.ts";
import { nearestModel } from "../../gateway/models/availability.ts";
import { ModelDetails, modelDetails } from "../../gateway/models/listing.ts";
import type { Model } from "../../gateway/models/model.ts";
import { checkModels, type WorkspaceRequirements } from "../../gateway/models/models.ts";
import { requirementsOf } from "../../gateway/own-keys/requirements.ts";
import { listOf, withOptionalWorkspace, NamedWorkspace } from "../fields.ts";
import { endpoint } from "../endpoint.ts";
import { modelCheckMsMax, workbenchAnswerMs } from "../limits.ts";
import type { ControlParts } from "../parts.ts";
import { streamProgress, wantsProgress } from "../responses.ts";

const ChosenModels = Type.Object({ id: Type.Optional(line("the id of a model", { title: "Only this model" })) });

/** All models, or the named one. @throws DomainError not_found, which suggests the nearest id */
function choose(id: string | undefined, { models }: ControlParts): Model[] {
  const published = models.list();
  const chosen = published.filter((model) => id === undefined || model.id === id);
  if (id === undefined || chosen.length > 0) return chosen;
  const meant = nearestModel(id, published);
  const hint = meant === null ? "" : `: did you mean "${meant}"?`;
  throw new DomainError("not_found", `There is no model with the id "${id}"${hint}`, { field: "id" });
}

/** The requirements of a list that belongs to no workspace: none. */
const noDemands: WorkspaceRequirements = { zeroDataRetention: false, earlyAccess: ["embeddings"] };

function describe(chosen: Model[], { models, measure }: ControlParts, demands = noDemands): { data: ModelDetails[] } {
  return { data: chosen.map((model) => modelDetails(model, { models, measure, demands })) };
}

export const modelEndpoints = {
  list: endpoint({
    method: "GET",
    path: "/models",
    command: "model list",
    summary: "List the catalog's models, with the reason if one cannot be called: in a workspace by its settings and own keys",
    fields: withOptionalWorkspace(ChosenModels),
    view: listOf(ModelDetails),
    async handle({ input, actors, parts }) {
      if (input.workspace === undefined) return describe(choose(input.id, parts), parts);
      const { workspace } = await actors.inWorkspace(input.workspace);
      return describe(choose(input.id, parts), parts, await requirementsOf(workspace, parts.sql));
    },
  }),
  check: endpoint({
    method: "POST",
    path: "/models/check",
    command: "model check",
    summary: "Run the launch checks again and wait for them; each is a test call that costs a few tokens",
    fields: ChosenModels,
    view: listOf(ModelDetails),
    deadlineMs: modelCheckMsMax,
    progress: true,
    async handle({ input, actors, request, parts }) {
      actors.operator("check models");
      const chosen = choose(input.id, parts);
      const check = async (tell?: (part: unknown) => void) => {
        await checkModels({ chosen, onEnded: ({ model, provider, code }) => tell?.({ model, provider, code }) }, parts);
        return describe(chosen, parts);
      };
      return wantsProgress(request) ? streamProgress(check, parts.log) : check();
    },
  }),
};

export const workbenchEndpoints = {
  complete: endpoint({
    method: "POST",
    path: "/workbench",
    summary: "Complete a chat as a member, without a key, on the workspace's credit",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: Type.Object({}),
    completes: true,
    deadlineMs: workbenchAnswerMs,
    async handle({ input, actors, request, server, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      const { email } = memberOf(actor);
      const caller = await selectCallerId({ workspace: workspace.id, email }, parts.sql);
      if (caller === undefined) throw new DomainError("forbidden", `"${email}" is not a member of this workspace`);
      return parts.runInWorkbench({ request, server, caller });
    },
  }),
};

/** @throws DomainError forbidden for auditors, and for the operator, who is not a member */
function memberOf(actor: Actor): MemberActor {
  authorize(actor, { roles: writers, action: "use the Workbench" });
  if (actor.kind === "member") return actor;
  throw new DomainError(
    "forbidden",
    "Cannot use the Workbench as the operator: name a member, who pays from the workspace's credit",
    {
      field: "X-Act-As",
    },
  );
}
