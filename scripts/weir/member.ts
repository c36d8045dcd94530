import { ofWorkspace } from "./flags.ts";
import { email, oneOf } from "./value.ts";
import type { Verb } from "./verb.ts";

const role = oneOf("member", "auditor", "admin", "super_admin");

export const memberVerbs: readonly Verb[] = [
  {
    noun: "member",
    verb: "add",
    summary: "Make a person a member of a workspace",
    method: "POST",
    path: "/members",
    flags: [
      ofWorkspace,
      { name: "email", field: "email", value: email, required: true, help: "the person's address" },
      { name: "role", field: "role", value: role, required: true, help: "what the person may do there" },
    ],
  },
  {
    noun: "member",
    verb: "list",
    summary: "List the members of a workspace, by address",
    method: "GET",
    path: "/members",
    flags: [ofWorkspace],
  },
];
