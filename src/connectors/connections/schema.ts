/** Forms and answers of connections. The connector's row defines the fields of a form; no answer contains their values. */
import { Type, type Static } from "@sinclair/typebox";
import { nameCharactersMax } from "../../accounts/limits.ts";
import { line } from "../../accounts/workspaces/fields.ts";

const Credentials = Type.Record(Type.String(), Type.Unknown(), {
  writeOnly: true,
  description: "an object with a value for each key of the form",
});

const CredentialSetNumber = Type.Optional(
  Type.Integer({
    minimum: 0,
    title: "Which alternative of the form the credentials fill in, from 0",
    description: "the number of one of the form's alternatives, from 0,",
  }),
);

const Name = line(`a name of at most ${nameCharactersMax} characters`, {
  minLength: 1,
  maxLength: nameCharactersMax,
  title: "What people call it, such as the account's name; absent: the connector's name",
});

export const ConnectionForm = Type.Object({
  connector: line("the id or slug of a connector"),
  name: Type.Optional(Name),
  method: Type.Optional(line('one of the connector\'s methods, "api_token" or "record_only",')),
  credential_set: CredentialSetNumber,
  credentials: Type.Optional(Credentials),
});
export type ConnectionForm = Static<typeof ConnectionForm>;

export const ConnectionName = Type.Object({ name: Name });
export type ConnectionName = Static<typeof ConnectionName>;

export const NewCredentials = Type.Object({ credential_set: CredentialSetNumber, credentials: Credentials });
export type NewCredentials = Static<typeof NewCredentials>;

const outcomes = ["works", "refused", "lacks_grant", "rate_limited", "unusable", "unreachable", "unexpected"] as const;
export type Outcome = (typeof outcomes)[number];

const OutcomeView = Type.Unsafe<Outcome>(
  Type.Union(
    outcomes.map((outcome) => Type.Literal(outcome)),
    { description: "The outcome of the call at the vendor" },
  ),
);
const testFields = {
  outcome: OutcomeView,
  status: Type.Union([Type.Integer(), Type.Null()], { description: "The vendor's HTTP status; null: there was no answer" }),
  message: Type.String({ description: "The outcome for people, with the wrong field if it is known" }),
  tested_at: Type.String({ description: "When, ISO 8601 in UTC" }),
};

/** A connection without its credentials. */
export const ConnectionView = Type.Object({
  id: Type.String({ description: "Id of the connection" }),
  workspace_id: Type.String({ description: "The workspace of the connection" }),
  connector: Type.String({ description: "Id of the connector" }),
  name: Type.Union([Type.String(), Type.Null()], { description: "What people call it; null: the connector's name" }),
  method: Type.String({ description: "`api_token` or `record_only`" }),
  credential_set: Type.Integer({ description: "The form's alternative that was filled in, from 0" }),
  fields: Type.Array(Type.String(), { description: "Keys of the fields that have a value; the values are never shown" }),
  created_at: Type.String({ description: "When, ISO 8601 in UTC" }),
  updated_at: Type.String({ description: "When its credentials were last set, ISO 8601 in UTC" }),
  testable: Type.Boolean({ description: "Whether there is a test for it" }),
  last_test: Type.Union([Type.Object(testFields), Type.Null()], {
    description: "The last test of these credentials; null: they were not tested",
  }),
});
export type ConnectionView = Static<typeof ConnectionView>;

export const ConnectionDeleted = Type.Object({
  id: Type.String({ description: "Id of the connection" }),
  deleted: Type.Literal(true, { description: "true" }),
});
export type ConnectionDeleted = Static<typeof ConnectionDeleted>;

export const ConnectionTest = Type.Object({
  id: Type.String({ description: "Id of the connection" }),
  ok: Type.Boolean({ description: "Whether the vendor accepted the credentials" }),
  ...testFields,
});
export type ConnectionTest = Static<typeof ConnectionTest>;
