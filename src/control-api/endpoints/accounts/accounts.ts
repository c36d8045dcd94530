import { resetSignIn, SignInReset } from "../../../accounts/oidc/reset-sign-in.ts";
import { AccountView } from "../../../accounts/workspaces/schema.ts";
import { setAccount, type AccountVerb } from "../../../accounts/members/accounts.ts";
import { endpoint, type Endpoint } from "../../endpoint.ts";
import { NoFields } from "../../fields.ts";

const summaries: [AccountVerb, string][] = [
  ["suspend", "Stop a person's keys in every workspace; the path takes the address"],
  ["unsuspend", "Let a suspended person's keys work again"],
  ["lock", "Stop a person's keys in every workspace, as after too many wrong passwords"],
  ["unlock", "Let a locked person's keys work again"],
  ["delete", "Stop a person's keys in every workspace, irrevocably"],
];

const stateEndpoints: Endpoint[] = summaries.map(([verb, summary]) =>
  endpoint({
    method: "POST",
    path: `/accounts/:id/${verb}`,
    summary,
    fields: NoFields,
    view: AccountView,
    async handle({ id: email, actors, parts }) {
      const view = await setAccount({ actor: actors.operator(`${verb} an account`), email, verb }, parts);
      parts.notify("records-changed");
      return view;
    },
  }),
);

export const accountEndpoints: Endpoint[] = [
  ...stateEndpoints,
  endpoint({
    method: "POST",
    path: "/accounts/:id/reset",
    summary: "Remove a person's second factor and link to the OpenID Connect provider, and end their sessions",
    fields: NoFields,
    view: SignInReset,
    async handle({ id: email, actors, parts }) {
      const actor = actors.operator("reset a person's sign-in");
      actors.requireRecentSignIn("reset a person's sign-in");
      return resetSignIn({ actor, email }, parts);
    },
  }),
];
