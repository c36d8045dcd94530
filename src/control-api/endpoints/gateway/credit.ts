import { Type } from "@sinclair/typebox";
import { addCredit, CreditForm, CreditView } from "../../../gateway/credit/credit.ts";
import { describeCredit } from "../../describe-workspaces.ts";
import { endpoint, type Endpoint } from "../../endpoint.ts";
import { inWorkspace, NamedWorkspace } from "../../fields.ts";

export const creditEndpoints: Endpoint[] = [
  endpoint({
    method: "POST",
    path: "/credit",
    summary: "Add credit; the same reference adds once",
    fields: inWorkspace(CreditForm),
    view: CreditView,
    async handle({ input: { workspace: named, ...credit }, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      const { balance } = await addCredit({ actor, workspace: workspace.id, credit }, parts);
      await parts.refresh(workspace.id);
      return describeCredit({ ...workspace, balance }, parts);
    },
  }),
  endpoint({
    method: "GET",
    path: "/credit",
    summary: "Show a workspace's credit",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: CreditView,
    async handle({ input, actors, parts }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      return describeCredit(workspace, parts);
    },
  }),
];
