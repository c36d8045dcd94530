import { email } from "../../value.ts";
import type { Verb } from "../../verb.ts";

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
