import { Type } from "@sinclair/typebox";
import type { Actor, MemberActor } from "../../../accounts/audit/actor.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { selectCallerId } from "../../../accounts/members/store.ts";
import { authorize, writers } from "../../../accounts/workspaces/authorize.ts";
import { endpoint, type Endpoint } from "../../endpoint.ts";
import { NamedWorkspace } from "../../fields.ts";
import { workbenchAnswerMs } from "../../limits.ts";

export const workbenchEndpoints: Endpoint[] = [
  endpoint({
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
      if (caller === undefined) throw new DomainError("forbidden", `"${email}" is no member of this workspace`);
      return parts.runInWorkbench({ request, server, caller });
    },
  }),
];

/** @throws DomainError forbidden for auditors, and for the operator, who is no member */
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
