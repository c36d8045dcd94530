/**
 * A statement of usage: how a month changed a workspace's credit, and what each charge was for; its views, its table, and the text that is
 * stored and hashed. That text is JSON by RFC 8785, so that anyone can compute the hash again. Names are those of the day on which it
 * closed.
 */
import { createHash } from "node:crypto";
import { Type, type Static } from "@sinclair/typebox";
import type { CsvFile } from "../../http/csv-response.ts";
import { text, textOrNull } from "../../http/json-schema.ts";
import { reference, StatementParties } from "./parties.ts";

const usd = (description: string) => text(`${description}, in USD with nine decimals`);
const count = (description: string) => Type.Integer({ minimum: 0, description });

const number = text("The month in UTC, such as 2026-10");

const Movement = Type.Object({
  at: text("When it was entered, ISO 8601 in UTC"),
  kind: textOrNull("Of the ledger's entry, such as `credit`; null: the sum of those beyond the first 1,000"),
  ref: textOrNull("The reference of the payment; null: none"),
  usd: usd("The amount, above zero"),
});
export type Movement = Static<typeof Movement>;

const Line = Type.Object({
  key_id: textOrNull("The key; null: a member used the Workbench, or the line is a rest"),
  key_name: textOrNull("Its name when the statement closed; `Workbench` for the Workbench; null: a rest"),
  member: textOrNull("The email of the key's owner, or of the member who used the Workbench; null: unknown, or a rest"),
  model: textOrNull(
    "The model that answered; null: a rest, which sums the cheapest lines beyond 10,000, and requests whose rows retention had deleted",
  ),
  provider: textOrNull("The provider that answered; null: a rest"),
  endpoint: textOrNull("chat, completions, embeddings, messages or responses; null: a rest"),
  tier_above_tokens: Type.Union([Type.Integer(), Type.Null()], {
    description: "The bound of the price tier that the requests' tokens passed; null: the base price",
  }),
  requests: count("Requests that were charged; a failed one with 0"),
  prompt_tokens: count("Tokens of the requests"),
  cached_tokens: count("The part of the requests' tokens that was read from the provider's cache"),
  cache_write_tokens: count("The part of the requests' tokens that was written to the provider's cache"),
  completion_tokens: count("Tokens of the answers"),
  cost_usd: usd("The amount charged"),
});
export type Line = Static<typeof Line>;

const OwnKeyUse = Type.Object({
  provider: text("The provider, which bills it"),
  model: text("The model that answered"),
  requests: count("Requests that were accepted in the month"),
  list_cost_usd: usd("What they would have cost at list prices"),
});
export type OwnKeyUse = Static<typeof OwnKeyUse>;

/** The fields for those who see the whole workspace. */
const whole = {
  ...StatementParties,
  ledger: Type.Object(
    {
      from_seq: Type.Integer({ description: "The number of the first entry" }),
      to_seq: Type.Integer({ description: "The number of the last entry; one less than `from_seq`: there are none" }),
    },
    { description: "The entries of the workspace's ledger that the statement sums. The next statement goes on after them" },
  ),
  opening_balance_usd: usd("The balance before the first entry"),
  credits: Type.Array(Movement, { description: "Entries that added credit, oldest first" }),
  refunds: Type.Array(Movement, { description: "Entries that took credit and are no charges, oldest first" }),
  charges_usd: usd("The charges: the sum of the lines"),
  closing_balance_usd: usd("The balance after the last entry: opening + credits - refunds - charges"),
  lines: Type.Array(Line, {
    description: "The charges by key, model, provider, endpoint and price tier, the most expensive first",
  }),
  of_previous_month_usd: usd("The part of the charges whose requests were accepted before the month, and ended late"),
  of_next_month_usd: usd("The part of the charges whose requests were accepted after it, while the last of the month ran"),
  own_key: Type.Array(OwnKeyUse, { description: "What own provider keys served, which is not charged" }),
};

const head = {
  number,
  reference,
  workspace: Type.Object(
    { id: text("Its id"), name: text("Its name when the statement closed") },
    { description: "Whose it is" },
  ),
  period: Type.Object(
    { from: text("When the month begins, ISO 8601 in UTC"), to: text("When it ends, which is not part of it") },
    { description: "The month" },
  ),
};

/** The document that is stored and hashed. */
export const StatementDocument = Type.Object({ ...head, closed_at: text("When it closed, ISO 8601 in UTC"), ...whole });
export type StatementDocument = Static<typeof StatementDocument>;

const closed = Type.Boolean({ description: "Whether it is final; false: it grows until some time after the end of the month" });
const closedAt = textOrNull("When it closed, ISO 8601 in UTC; null: it is open");
const sha256 = textOrNull(
  "SHA-256 in hexadecimal digits of the statement without `closed` and this field, as JSON by RFC 8785; null: it is open",
);

/** Members see only the lines of their own keys and Workbench. */
export const StatementView = Type.Object({
  ...head,
  closed,
  closed_at: closedAt,
  charges_usd: usd("The charges: the sum of the lines"),
  lines: whole.lines,
  ...Type.Partial(
    Type.Object({
      ...StatementParties,
      ledger: whole.ledger,
      opening_balance_usd: whole.opening_balance_usd,
      credits: whole.credits,
      refunds: whole.refunds,
      closing_balance_usd: whole.closing_balance_usd,
      of_previous_month_usd: whole.of_previous_month_usd,
      of_next_month_usd: whole.of_next_month_usd,
      own_key: whole.own_key,
      sha256,
    }),
  ).properties,
});
export type StatementView = Static<typeof StatementView>;

const StatementRow = Type.Object({
  number,
  closed,
  closed_at: closedAt,
  ...Type.Partial(
    Type.Object({
      opening_balance_usd: whole.opening_balance_usd,
      credits_usd: usd("The sum of the credits"),
      refunds_usd: usd("The sum of the refunds"),
      charges_usd: usd("The sum of the charges"),
      closing_balance_usd: whole.closing_balance_usd,
      sha256,
    }),
  ).properties,
});
export type StatementRow = Static<typeof StatementRow>;

export const StatementList = Type.Object({
  data: Type.Array(StatementRow, { description: "Newest first; amounts are shown to those who see the whole workspace" }),
  next: textOrNull("The value of `before` for older ones; null: there are none"),
});
export type StatementList = Static<typeof StatementList>;

const Named = Type.Object({ workspace_id: text("The workspace"), number });

export const ClosingView = Type.Object({
  closed: Type.Array(Named, { description: "Statements that closed now" }),
  waiting: Type.Array(Named, {
    description: "Statements that cannot close yet: requests of the month are open, metering lags, or it is not running",
  }),
});
export type ClosingView = Static<typeof ClosingView>;

// The text that is hashed: JSON by https://www.rfc-editor.org/rfc/rfc8785

interface HashedDocument {
  text: string;
  /** SHA-256 of the text in UTF-8, in hexadecimal digits. */
  sha256: string;
}

export function hashedDocument(document: StatementDocument): HashedDocument {
  const text = canonicalText(document);
  return { text, sha256: createHash("sha256").update(text, "utf8").digest("hex") };
}

/** Only `hashedDocument` makes such texts, and no stored one changes. */
export function parseDocument(text: string): StatementDocument {
  return JSON.parse(text) as StatementDocument;
}

const columns = [
  "key_id",
  "key_name",
  "member",
  "model",
  "provider",
  "endpoint",
  "tier_above_tokens",
  "requests",
  "prompt_tokens",
  "cached_tokens",
  "cache_write_tokens",
  "completion_tokens",
  "cost_usd",
] as const;

/** The lines of a statement as a table. */
export function statementFile({ workspace, number, lines }: StatementView): CsvFile {
  return {
    name: `statement-${workspace.name}-${number}`,
    columns: ["statement", ...columns],
    rows: lines.map((line) => [number, ...columns.map((column) => line[column])]),
  };
}

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** Names in the order of their code units, and no space. Amounts are texts, so that all numbers are whole. */
function canonicalText(value: Json): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalText).join(",")}]`;
  const fields = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalText(field)}`).join(",")}}`;
}

/** `Array.isArray` does not narrow read-only arrays. */
function isList(value: object): value is readonly Json[] {
  return Array.isArray(value);
}
