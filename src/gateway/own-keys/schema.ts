/**
 * Forms and views of own provider keys. No view shows more of a key than its last four characters, and these only to those who manage keys.
 * A key becomes a header's value, so its characters are bounded.
 */
import { Type, type Static } from "@sinclair/typebox";
import { line } from "../../accounts/workspaces/fields.ts";
import { text, textOrNull } from "../../http/json-schema.ts";
import { ownKeyCharactersMax, ownKeyCharactersMin } from "../limits.ts";

/** It becomes a header's value. */
export const ProviderKey = Type.String({
  pattern: "^[!-~]*$",
  writeOnly: true,
  minLength: ownKeyCharactersMin,
  maxLength: ownKeyCharactersMax,
  description: `the provider's key, ${ownKeyCharactersMin} to ${ownKeyCharactersMax} printable ASCII characters without spaces,`,
});

const ZeroDataRetention = Type.Optional(
  Type.Boolean({
    title: "Whether the provider keeps nothing under the account of this key",
    description: "true or false",
  }),
);

export const OwnKeyForm = Type.Object({
  provider: line("the id of a provider"),
  name: Type.Optional(line("a name", { title: "Its name" })),
  key: ProviderKey,
  zero_data_retention: ZeroDataRetention,
});
export type OwnKeyForm = Static<typeof OwnKeyForm>;

export const NewOwnKey = Type.Object({ key: ProviderKey, zero_data_retention: ZeroDataRetention });
export type NewOwnKey = Static<typeof NewOwnKey>;

export const OwnKeyTestForm = Type.Object({ model: Type.Optional(line("the id of a model", { title: "Test only this model" })) });
export type OwnKeyTestForm = Static<typeof OwnKeyTestForm>;

const textForManagers = (description: string) => textOrNull(`${description}; shown to admins, super admins and the operator`);

export const OwnKeyView = Type.Object({
  id: text("Its id"),
  workspace_id: text("The workspace of the key"),
  provider: text("Id of the provider"),
  state: Type.Union([Type.Literal("active"), Type.Literal("refused"), Type.Literal("disabled")], {
    description: "`refused`: the provider refused it in its last use, and it is still tried",
  }),
  zero_data_retention: Type.Boolean({ description: "Whether the provider keeps nothing under the account of this key" }),
  name: textForManagers("Its name"),
  masked: textForManagers("An ellipsis and the last four characters, which a short key does not show"),
  created_at: text("When, ISO 8601 in UTC"),
  tested_at: textForManagers("When the provider last accepted it in a test, ISO 8601 in UTC"),
  last_used_at: textForManagers("When it last served, within a minute, ISO 8601 in UTC; null: never"),
});
export type OwnKeyView = Static<typeof OwnKeyView>;

export const OwnKeyDeleted = Type.Object({
  id: text("Its id"),
  deleted: Type.Literal(true, { description: "true" }),
});
export type OwnKeyDeleted = Static<typeof OwnKeyDeleted>;

const Tested = Type.Object({
  model: text("Id of the model"),
  code: textOrNull("The code of the error; null: the call succeeded"),
});

export const OwnKeyTest = Type.Object({
  id: text("Its id"),
  ok: Type.Boolean({ description: "Whether every call succeeded" }),
  state: OwnKeyView.properties.state,
  tests: Type.Array(Tested, { description: "The calls, of at most 16 output tokens each, which the provider bills" }),
});
export type OwnKeyTest = Static<typeof OwnKeyTest>;
