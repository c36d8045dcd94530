import { Type, type Static } from "@sinclair/typebox";
import { requestsPerMinuteMax, requestsPerMinuteMin } from "../limits/constants.ts";
import { Email, line, usd } from "../workspaces/fields.ts";

const limit = Type.Union([usd(), Type.Null()], {
  description: 'an amount of USD as a string, such as "12.50", or null for no limit',
});
const requestsPerMinute = Type.Union(
  [Type.Integer({ minimum: requestsPerMinuteMin, maximum: requestsPerMinuteMax }), Type.Null()],
  {
    description: `a whole number from ${requestsPerMinuteMin} to ${requestsPerMinuteMax}, or null for the default,`,
  },
);

export const KeyKind = Type.Union([Type.Literal("inference"), Type.Literal("tools")], { description: "inference or tools" });
export type KeyKind = Static<typeof KeyKind>;

export const KeyForm = Type.Object({
  /** Empty gives "Untitled key". */
  name: Type.Optional(line("one line of text")),
  monthly_spend_limit_usd: Type.Optional(limit),
  rate_limit_rpm: Type.Optional(requestsPerMinute),
  kind: Type.Optional(KeyKind),
  /** Who the operator creates it for; a member's own keys need none. */
  owner: Type.Optional(Email),
});
export type KeyForm = Static<typeof KeyForm>;

export const KeyEdit = Type.Pick(KeyForm, ["name", "monthly_spend_limit_usd", "rate_limit_rpm"]);
export type KeyEdit = Static<typeof KeyEdit>;

const TextOrNull = Type.Union([Type.String(), Type.Null()]);

export const KeyView = Type.Object({
  id: Type.String(),
  kind: KeyKind,
  name: Type.String(),
  prefix: Type.String(),
  masked: Type.String(),
  owner: Type.String(),
  workspace_id: Type.String(),
  monthly_spend_limit_usd: TextOrNull,
  rate_limit_rpm: Type.Union([Type.Integer(), Type.Null()]),
  month_spent_usd: Type.String(),
  created_at: Type.String(),
  last_used_at: TextOrNull,
  revoked_at: TextOrNull,
});
export type KeyView = Static<typeof KeyView>;

/** With the full key: the answer to its creation, and never shown again. */
export const NewKeyView = Type.Composite([KeyView, Type.Object({ key: Type.String() })]);
export type NewKeyView = Static<typeof NewKeyView>;
