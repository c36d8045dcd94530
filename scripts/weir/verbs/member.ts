import { email, oneOf, rows, usdOrNone, yes } from "../value.ts";
import { ofWorkspace, type Flag, type Verb } from "../verb.ts";

const role: Flag = {
  name: "role",
  field: "role",
  value: oneOf("member", "auditor", "admin", "super_admin"),
  required: true,
  help: "the person's role in the workspace",
};
const theMember: Flag = { name: "email", field: "id", value: email, required: true, help: "the member's address" };

export const memberVerbs: readonly Verb[] = [
  {
    noun: "member",
    verb: "add",
    summary: "Make a person a member of a workspace; as an admin (--as), ask them to become one",
    method: "POST",
    path: "/members",
    flags: [
      ofWorkspace,
      { name: "email", field: "email", value: email, required: true, help: "the person's address" },
      role,
      {
        name: "invite",
        field: "invite",
        value: yes,
        help: "send a mail with a link that signs them in to the Console, or takes their answer",
      },
    ],
  },
  {
    noun: "member",
    verb: "list",
    summary: "List the members of a workspace, by address",
    method: "GET",
    path: "/members",
    flags: [
      ofWorkspace,
      { name: "email", field: "email", value: email, help: "only this one" },
      { name: "limit", field: "limit", value: rows, help: "how many, 1 to 1000; default 1000" },
      { name: "after", field: "after", value: email, help: "only addresses after this one, for the next page" },
    ],
    columns: ["email", "role", "state"],
  },
  {
    noun: "member",
    verb: "set",
    summary: "Give a member another role or monthly spend limit; omitted ones stay",
    method: "PATCH",
    path: "/members/:id",
    flags: [
      ofWorkspace,
      theMember,
      { ...role, required: false },
      {
        name: "limit",
        field: "monthly_spend_limit_usd",
        value: usdOrNone,
        help: "the most that their keys and the Workbench may spend in a month (UTC), up to two decimals",
      },
    ],
  },
  {
    noun: "member",
    verb: "deactivate",
    summary: "End a membership, or take an invitation back, and revoke the member's keys in the workspace, irrevocably",
    method: "POST",
    path: "/members/:id/deactivate",
    flags: [ofWorkspace, theMember],
  },
  {
    noun: "member",
    verb: "reactivate",
    summary: "Let a member in again; their revoked keys stay revoked",
    method: "POST",
    path: "/members/:id/reactivate",
    flags: [ofWorkspace, theMember],
  },
];
