/** Forms and answers of connections. The connector's row defines the fields of a form; no answer contains their values. */
import { Type, type Static } from "@sinclair/typebox";
import { nameCharactersMax } from "../../accounts/limits.ts";
import { line } from "../../accounts/workspaces/fields.ts";
import { textOrNull } from "../../http/json-schema.ts";

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

/** What the customer's role must trust. */
const RoleAccess = Type.Object({
  account_id: textOrNull("This service's account at AWS; null: its operator has set none (`AWS_ACCOUNT_ID`)"),
  external_id: Type.String({
    description: "The external id that the role's trust policy must require; Weir's, of this connection alone",
  }),
  trust_policy: textOrNull("The role's trust policy, to copy; null: without an account of this service"),
});
export type RoleAccess = Static<typeof RoleAccess>;

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
  role_access: Type.Union([RoleAccess, Type.Null()], { description: "Access by a role of AWS; null: by other credentials" }),
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

// People: who has an account at the vendor.

export const personStates = ["active", "pending", "locked", "suspended", "disabled", "archived", "unknown"] as const;
export type PersonState = (typeof personStates)[number];

const PersonStateView = Type.Unsafe<PersonState>(
  Type.Union(
    personStates.map((state) => Type.Literal(state)),
    { description: "What the vendor lets the account do; `pending`: it was never activated" },
  ),
);

export const PersonView = Type.Object({
  login: Type.String({ description: "Login or address, which is unique at the vendor" }),
  state: PersonStateView,
  second_factor: Type.Union([Type.Boolean(), Type.Null()], {
    description: "Whether the vendor has a second factor of the account; null: it does not tell",
  }),
});
export type PersonView = Static<typeof PersonView>;

/** People as a table, each with the time of the reading. */
export function peopleTable({ read_at, data }: { read_at: string | null; data: readonly PersonView[] }) {
  const rows = data.map(({ login, state, second_factor: factor }) => [
    login,
    state,
    factor === null ? null : String(factor),
    read_at,
  ]);
  return { columns: ["login", "state", "second_factor", "read_at"], rows };
}

/** The last good reading, and what became of the last one. */
export const PeopleReading = Type.Object({
  connection_id: Type.String({ description: "Id of the connection" }),
  list: Type.String({ description: "The vendor's list that is read" }),
  read_at: textOrNull("When the people were read, ISO 8601 in UTC; null: never yet"),
  people: Type.Union([Type.Integer(), Type.Null()], { description: "How many; null: never read" }),
  complete: Type.Union([Type.Boolean(), Type.Null()], {
    description: "Whether these are all: a reading ends at 20,000; null: never read",
  }),
  second_factor_unknown: textOrNull("Why the second factor of some is not known; null: it is, or nothing was read"),
  current: Type.Boolean({ description: "Whether they were read with the credentials of now" }),
  failure: Type.Union(
    [
      Type.Object({
        outcome: OutcomeView,
        status: testFields.status,
        message: Type.String({ description: "The cause, for people" }),
        since: Type.String({ description: "When readings began to fail, ISO 8601 in UTC" }),
        at: Type.String({ description: "When the last one failed, ISO 8601 in UTC" }),
      }),
      Type.Null(),
    ],
    { description: "Why the last reading failed; null: it did not. The people are those of the last good one" },
  ),
  next_at: textOrNull("When they are read again, ISO 8601 in UTC; null: not until someone asks"),
});
export type PeopleReading = Static<typeof PeopleReading>;

export const PeopleView = Type.Object({
  reading: Type.Union([PeopleReading, Type.Null()], { description: "null: the people were never read" }),
  data: Type.Array(PersonView, { description: "Those of the last good reading, by login" }),
  next: textOrNull("The `after` of the next rows; null: there are none"),
});
export type PeopleView = Static<typeof PeopleView>;

export const PeopleForgotten = Type.Object({
  id: Type.String({ description: "Id of the connection" }),
  forgotten: Type.Boolean({ description: "Whether there was a reading" }),
});
export type PeopleForgotten = Static<typeof PeopleForgotten>;
