import { email, id } from "../value.ts";
import type { Verb } from "../verb.ts";

const summaries = {
  suspend: "Stop a person's keys in every workspace",
  unsuspend: "Let a suspended person's keys work again",
  lock: "Stop a person's keys in every workspace, as after too many wrong passwords",
  unlock: "Let a locked person's keys work again",
  delete: "Stop a person's keys in every workspace, irrevocably",
  reset: "Remove a person's second factor and link to the OpenID Connect provider, and end their sessions",
};

/** Verbs that are also the end of their paths. */
export const accountVerbs: readonly Verb[] = Object.entries(summaries).map(([verb, summary]) => ({
  noun: "account",
  verb,
  summary,
  method: "POST",
  path: `/accounts/:id/${verb}`,
  flags: [{ name: "email", field: "id", value: email, required: true, help: "the person's address" }],
}));

export const sessionVerbs: readonly Verb[] = [
  {
    noun: "session",
    verb: "show",
    summary: "Show who the credential is and the workspaces that they may see",
    method: "GET",
    path: "/session",
    flags: [],
  },
  {
    noun: "session",
    verb: "list",
    summary: "List a person's sessions in the Console (--as EMAIL)",
    method: "GET",
    path: "/sessions",
    flags: [],
  },
  {
    noun: "session",
    verb: "end",
    summary: "End a session in the Console",
    method: "DELETE",
    path: "/sessions/:id",
    flags: [{ name: "id", field: "id", value: id, required: true, help: "id of the session" }],
  },
  {
    noun: "session",
    verb: "link",
    summary: "Create a link that signs a person in to the Console, once and within an hour",
    method: "POST",
    path: "/session-links",
    flags: [{ name: "email", field: "email", value: email, required: true, help: "the person's address" }],
  },
];
