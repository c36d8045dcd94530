/** Forms and views of keys. A view is masked; only the answer to the creation has the full key. */
import { Type, type Static } from "@sinclair/typebox";
import { text, textOrNull } from "../../http/json-schema.ts";
import { requestsPerMinuteDefault, requestsPerMinuteMax, requestsPerMinuteMin } from "../limits.ts";
import { emailOf, leftWords, line, usd } from "../workspaces/fields.ts";

const limit = Type.Union([usd(), Type.Null()], {
  title: "What the key may spend in a calendar month (UTC), up to two decimals",
  description: 'an amount of USD as a string, such as "12.50", or null for no limit',
});
const dailyLimit = Type.Union([usd(), Type.Null()], {
  title: "What the key may spend in a day (UTC), up to two decimals",
  description: 'an amount of USD as a string, such as "2.50", or null for no limit',
});
const requestsPerMinute = Type.Union(
  [Type.Integer({ minimum: requestsPerMinuteMin, maximum: requestsPerMinuteMax }), Type.Null()],
  {
    title: `Requests in any 60 seconds, ${requestsPerMinuteMin} to ${requestsPerMinuteMax}; default ${requestsPerMinuteDefault}`,
    description: `a whole number from ${requestsPerMinuteMin} to ${requestsPerMinuteMax}, or null for the default,`,
  },
);

export const KeyKind = Type.Union([Type.Literal("inference"), Type.Literal("tools")], {
  title: "Which API the key opens; default inference",
  description: "inference or tools",
});
export type KeyKind = Static<typeof KeyKind>;

/** The scope of a tools key's lists: the whole workspace, a product or a project. */
export const ScopeKind = Type.Union([Type.Literal("workspace"), Type.Literal("product"), Type.Literal("project")], {
  title: "What lists show",
  description: "one of workspace, product and project",
});
export type ScopeKind = Static<typeof ScopeKind>;

export const KeyForm = Type.Object({
  name: Type.Optional(line("one line of text", { title: "The key's label; empty gives `Untitled key`" })),
  monthly_spend_limit_usd: Type.Optional(limit),
  daily_spend_limit_usd: Type.Optional(dailyLimit),
  rate_limit_rpm: Type.Optional(requestsPerMinute),
  kind: Type.Optional(KeyKind),
  /** A member's own keys need none. */
  owner: Type.Optional(emailOf("The member who owns it; not needed where a member asks")),
});
export type KeyForm = Static<typeof KeyForm>;

export const KeyEdit = Type.Pick(KeyForm, ["name", "monthly_spend_limit_usd", "daily_spend_limit_usd", "rate_limit_rpm"]);
export type KeyEdit = Static<typeof KeyEdit>;

export const KeyView = Type.Object({
  id: text("The key's id; not the key itself"),
  kind: KeyKind,
  name: text("The key's label"),
  prefix: text("The visible start of the key: its prefix and eight characters"),
  masked: text("Start, an ellipsis and the last four characters"),
  owner: text("E-mail address of the owner"),
  workspace_id: text("The workspace whose credit it spends"),
  monthly_spend_limit_usd: textOrNull("What it may spend in a calendar month (UTC), in USD; null: no limit"),
  daily_spend_limit_usd: textOrNull("What it may spend in a day (UTC), in USD; null: no limit"),
  rate_limit_rpm: Type.Union([Type.Integer(), Type.Null()], {
    description: `Requests in any 60 seconds; null: the default of ${requestsPerMinuteDefault}`,
  }),
  month_spent_usd: text("What it has spent in the current month (UTC), in USD with nine decimals"),
  day_spent_usd: textOrNull("What it has spent today (UTC), in USD with nine decimals; null: it has no daily limit"),
  reserved_usd: textOrNull("What its open requests reserve, in USD with nine decimals; null: not known at present"),
  month_left_usd: textOrNull(leftWords("the monthly limit")),
  day_left_usd: textOrNull(leftWords("the daily limit")),
  created_at: text("When it was created, ISO 8601 in UTC"),
  last_used_at: textOrNull("When it was last used, ISO 8601 in UTC; null: never"),
  revoked_at: textOrNull("When it was revoked, ISO 8601 in UTC; null: it is active"),
});
export type KeyView = Static<typeof KeyView>;

/** The answer to the creation of a key, the only one with the full key. */
export const NewKeyView = Type.Composite([KeyView, Type.Object({ key: text("The full key, shown this once") })]);
export type NewKeyView = Static<typeof NewKeyView>;
