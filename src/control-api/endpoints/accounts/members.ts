import { Type } from "@sinclair/typebox";
import { deactivateMember } from "../../../accounts/keys/deactivate-member.ts";
import { listMembers, reactivateMember, setMember } from "../../../accounts/members/members.ts";
import { selectMembers } from "../../../accounts/members/store.ts";
import { managers } from "../../../accounts/workspaces/authorize.ts";
import { canonicalEmail, Email } from "../../../accounts/workspaces/fields.ts";
import { ListedMember, MemberEdit, MemberForm, MemberView } from "../../../accounts/workspaces/schema.ts";
import { endpoint, type Endpoint } from "../../endpoint.ts";
import { countedChange, inviteMember } from "../../invitation.ts";
import { inWorkspace, listOf, NamedWorkspace, NoFields, parseRowLimit, rowLimit } from "../../fields.ts";
import { memberRowsMax } from "../../limits.ts";

export const memberEndpoints: Endpoint[] = [
  endpoint({
    method: "POST",
    path: "/members",
    summary:
      "Invite a person to a workspace: an admin's invitation is pending until they accept, and the operator's is in force at once",
    fields: Type.Composite([
      inWorkspace(MemberForm),
      Type.Object({
        invite: Type.Optional(
          Type.Boolean({
            title: "Whether the person gets a mail with a link to answer and sign in",
            description: "true or false",
          }),
        ),
      }),
    ]),
    view: MemberView,
    status: 201,
    async handle({ input: { workspace: named, invite = false, ...member }, actors, parts }) {
      // Whoever finds an open browser must not be able to stay in the workspace by an address of their own.
      if (managers.includes(member.role)) actors.requireRecentSignIn("add an admin");
      const { actor, workspace } = await actors.inWorkspace(named);
      const view = await inviteMember({ actor, workspace, member, mails: invite }, parts);
      parts.notify("records-changed");
      return view;
    },
  }),
  endpoint({
    method: "GET",
    path: "/members",
    summary: "List the members of a workspace, by address",
    fields: Type.Object({
      workspace: NamedWorkspace,
      email: Type.Optional(Email),
      limit: rowLimit({ normal: memberRowsMax, max: memberRowsMax }),
      after: Type.Optional(Email),
    }),
    view: listOf(ListedMember),
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      const page = {
        email: input.email ?? null,
        after: input.after ?? null,
        limit: parseRowLimit(input.limit, { normal: memberRowsMax, max: memberRowsMax }),
      };
      return { data: await listMembers({ actor, workspace: workspace.id, page }, parts) };
    },
  }),
  endpoint({
    method: "PATCH",
    path: "/members/:id",
    summary: "Change a member's role or monthly spend limit; the path takes the address, and omitted fields stay",
    fields: inWorkspace(MemberEdit),
    view: MemberView,
    async handle({ input, id: email, actors, parts }) {
      const { workspace: named, ...edit } = input;
      const { actor, workspace } = await actors.inWorkspace(named);
      if (edit.role !== undefined) actors.requireRecentSignIn("change a role");
      const place = { actor, workspace: workspace.id };
      const view = await countedChange(place, parts, (sources) => setMember({ ...place, email, edit }, sources));
      parts.notify("records-changed");
      return view;
    },
  }),
  endpoint({
    method: "POST",
    path: "/members/:id/deactivate",
    summary: "End a membership, or take an invitation back, and revoke the member's keys in the workspace, irrevocably",
    fields: inWorkspace(NoFields),
    view: MemberView,
    async handle({ input, id: email, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      // It is not counted: whoever uses up the changes of an hour must not be able to stay.
      const view = await deactivateMember({ actor, workspace: workspace.id, email }, parts);
      parts.notify("records-changed");
      return view;
    },
  }),
  endpoint({
    method: "POST",
    path: "/members/:id/reactivate",
    summary: "Reactivate a member; revoked keys stay revoked",
    fields: inWorkspace(NoFields),
    view: MemberView,
    async handle({ input, id: email, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      // As for a new admin.
      const [member] = await selectMembers({ workspace: workspace.id, email: canonicalEmail(email) }, parts.sql);
      if (member && managers.includes(member.role)) actors.requireRecentSignIn("reactivate an admin");
      const place = { actor, workspace: workspace.id };
      const view = await countedChange(place, parts, (sources) => reactivateMember({ ...place, email }, sources));
      parts.notify("records-changed");
      return view;
    },
  }),
];
