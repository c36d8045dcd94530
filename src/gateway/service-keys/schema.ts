/**
 * Forms and views of the service's providers. No view shows more of a key than its last four characters, and these, like where the key comes
 * from, only to the operator. States and counts are shown to everyone who can sign in, since models show as much.
 */
import { Type, type Static } from "@sinclair/typebox";
import { text, textOrNull } from "../../http/json-schema.ts";
import { ProviderKey } from "../own-keys/schema.ts";
import { trialOutcomes } from "../providers/key-trial.ts";

/** An act of the operator, which no default may stand for. */
const act = (title: string, description: string) => Type.Literal(true, { title, description });

export const ProviderForm = Type.Object({
  key: Type.Optional(ProviderKey),
  terms_checked: act(
    "You have read the provider's terms, and they let you forward requests to it",
    "true, after reading the terms,",
  ),
  subprocessor_listed: act("Your customers find the provider in your list of subprocessors", "true, once your list has it,"),
});
export type ProviderForm = Static<typeof ProviderForm>;

/** In the order in which a provider gets ready, but for the last three. */
export const providerStates = ["no_key", "terms", "checking", "callable", "failing", "refused", "disabled"] as const;
export type ProviderState = (typeof providerStates)[number];

const State = Type.Union(
  providerStates.map((state) => Type.Literal(state)),
  {
    description:
      "`no_key`; `terms`: they have not been read; `checking`: launch checks are to run; `callable`: some models are; `failing`: none is; `refused`: the provider refuses the key; `disabled` by the operator",
  },
);

const forOperator = (description: string) => textOrNull(`${description}; shown to the operator alone`);

export const ProviderView = Type.Object({
  id: text("Its id"),
  name: text("Its display name"),
  state: State,
  models: Type.Integer({ description: "Models of the catalog that it could serve" }),
  callable: Type.Integer({ description: "Those that can be called with the service's key" }),
  checking: Type.Integer({ description: "Those whose launch check is to run" }),
  own_keys: Type.Boolean({ description: "Whether a workspace may bring its own key for it" }),
  terms: textOrNull("Where its terms are; null: the catalog does not say"),
  terms_checked: Type.Boolean({ description: "Whether the operator has read them" }),
  subprocessor_listed: Type.Boolean({ description: "Whether the operator lists it as a subprocessor" }),
  key: Type.Union(
    [Type.Literal("stored"), Type.Literal("environment"), Type.Literal("none"), Type.Literal("not_needed"), Type.Null()],
    { description: "Where the service's key comes from; null: shown to the operator alone" },
  ),
  key_variable: forOperator("The variable of the environment that may hold the key"),
  masked: forOperator("An ellipsis and the last four characters of a stored key, which a short key does not show"),
  problem: forOperator("Why the provider is `refused`, or its last test failed, as a sentence"),
  tested_at: forOperator("When the key was last tested, ISO 8601 in UTC"),
});
export type ProviderView = Static<typeof ProviderView>;

export const ProviderTest = Type.Object({
  ok: Type.Boolean({ description: "Whether the provider accepted the key" }),
  outcome: Type.Union(
    trialOutcomes.map((outcome) => Type.Literal(outcome)),
    { description: "How the test ended; `unproven`: the launch checks tell" },
  ),
  message: text("What that means, and what to do"),
  provider: Type.Object(ProviderView.properties, { description: "The provider after the test" }),
});
export type ProviderTest = Static<typeof ProviderTest>;
