import { Type } from "@sinclair/typebox";
import { addMember } from "../../workspaces/add-member.ts";
import { listMembers } from "../../workspaces/list-members.ts";
import { MemberForm, MemberView } from "../../workspaces/schema.ts";
import { endpoint, type Endpoint } from "../endpoint.ts";
import { inWorkspace, listOf, NamedWorkspace } from "../fields.ts";

export const memberEndpoints: Endpoint[] = [
  endpoint({
    method: "POST",
    path: "/members",
    summary: "Make a person a member of a workspace",
    fields: inWorkspace(MemberForm),
    view: MemberView,
    status: 201,
    async handle({ input: { workspace: named, ...member }, acting, parts }) {
      const { actor, workspace } = await acting.in(named);
      const view = await addMember({ actor, workspace: workspace.id, member }, parts);
      parts.changed();
      return view;
    },
  }),
  endpoint({
    method: "GET",
    path: "/members",
    summary: "List the members of a workspace, by address",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: listOf(MemberView),
    async handle({ input, acting, parts }) {
      const { workspace } = await acting.in(input.workspace);
      return { data: await listMembers(workspace.id, parts.sql) };
    },
  }),
];
