/**
 * Endpoints for the checklist of first steps. A step is done while the thing that it creates exists. No state of steps is stored. Hiding the
 * list changes only the caller's own view, so it is not audited.
 */
import { Type } from "@sinclair/typebox";
import type { Actor } from "../../accounts/audit/actor.ts";
import type { WorkspaceRow } from "../../accounts/workspaces/store.ts";
import type { Model } from "../../gateway/models/model.ts";
import { requirementsOf } from "../../gateway/own-keys/requirements.ts";
import { isHidden, selectPresent, updateHidden } from "../checklist-store.ts";
import { endpoint } from "../endpoint.ts";
import { inWorkspace, NamedWorkspace } from "../fields.ts";
import type { ControlParts } from "../parts.ts";

const thereIs = (what: string) => Type.Boolean({ description: what });

export const ChecklistView = Type.Object({
  hidden: Type.Boolean({ description: "Whether the caller has hidden it" }),
  provider: thereIs("A model of a provider can be called, besides the sandbox"),
  request: thereIs("A request was answered or failed"),
  key: thereIs("There is an active inference key"),
  limit: thereIs("An active inference key has a spend limit"),
  colleague: thereIs("There is a second member, or an invitation"),
  alert: thereIs("There is a rule of alerts"),
  sbom: thereIs("A project has an SBOM, besides the sample data"),
  connection: thereIs("There is a connection to a vendor"),
});

export const checklistEndpoints = {
  show: endpoint({
    method: "GET",
    path: "/checklist",
    command: "checklist show",
    summary: "Show which first steps of the three products a workspace has done",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: ChecklistView,
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      const hidden = await isHidden({ workspace: workspace.id, email: emailOf(actor) }, parts.sql);
      return { hidden, ...(await doneSteps(workspace, parts)) };
    },
  }),
  hide: endpoint({
    method: "PATCH",
    path: "/checklist",
    command: "checklist set",
    summary: "Hide the checklist of first steps from the caller's Home, or show it again",
    fields: inWorkspace(Type.Object({ hidden: Type.Boolean({ title: "Whether it is hidden", description: "true or false" }) })),
    view: ChecklistView,
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      await updateHidden({ workspace: workspace.id, email: emailOf(actor), hidden: input.hidden }, parts.sql);
      return { hidden: input.hidden, ...(await doneSteps(workspace, parts)) };
    },
  }),
};

async function doneSteps(workspace: WorkspaceRow, { sql, models }: Pick<ControlParts, "sql" | "models">) {
  const requirements = await requirementsOf(workspace, sql);
  const isCallable = (model: Model): boolean =>
    models.availability(model, requirements).routes.some(({ provider }) => provider.format !== "sandbox");
  return { provider: models.list().some(isCallable), ...(await selectPresent(workspace.id, sql)) };
}

/** Empty: the operator. */
function emailOf(actor: Actor): string {
  return actor.kind === "member" ? actor.email : "";
}
