/**
 * Forms and views of card top-up, and its amounts: whole cents within bounds. Stripe keeps the card, and its page takes it: Weir never has
 * its number.
 */
import { Type, type Static } from "@sinclair/typebox";
import { DomainError } from "../../accounts/errors.ts";
import { usd, parseAmount } from "../../accounts/workspaces/fields.ts";
import { text, textOrNull } from "../../http/json-schema.ts";
import { formatUsd, type NanoUsd } from "../../kernel/money.ts";
import { topUpCentsMax, topUpCentsMin } from "./limits.ts";

export const TopUpForm = Type.Object({ usd: usd("The amount, from 5 to 2,500 USD in whole cents") });
export type TopUpForm = Static<typeof TopUpForm>;

export const RefundForm = Type.Object({
  usd: Type.Optional(usd("The amount, in whole cents; left out: all that is left of the payment")),
});
export type RefundForm = Static<typeof RefundForm>;

const states = {
  created: "Stripe has not answered yet",
  open: "its page waits for the payer",
  confirming: "the saved card is being charged",
  processing: "the bank has not decided yet",
  action_required: "the bank wants a person to authenticate the payment, at `url`",
  paid: "it is paid, and the balance has no room for it",
  credited: "it is part of the credit",
  failed: "it was declined; with `retry_at` it is tried again",
  expired: "its page was left",
  canceled: "another one took its place",
} as const;
export type TopUpState = keyof typeof states;
export type TopUpKind = "manual" | "automatic";

const State = Type.Unsafe<TopUpState>(
  Type.Union(
    Object.keys(states).map((state) => Type.Literal(state)),
    {
      description: Object.entries(states)
        .map(([state, words]) => `\`${state}\`: ${words}`)
        .join("; "),
    },
  ),
);

const RefundView = Type.Object({
  id: text("Its id"),
  usd: text("The amount, in USD with nine decimals"),
  state: Type.Union([Type.Literal("pending"), Type.Literal("succeeded"), Type.Literal("failed")], {
    description: "`failed`: the amount is part of the credit again",
  }),
  made_by: text("The person, `operator`, or `stripe` for one that was made there"),
  at: text("When, ISO 8601 in UTC"),
});

export const TopUpView = Type.Object({
  id: text("Its id"),
  workspace_id: text("Its workspace"),
  kind: Type.Union([Type.Literal("manual"), Type.Literal("automatic")], {
    description: "A person's, or one of automatic top-up",
  }),
  state: State,
  amount_usd: text("What is charged to the card, in USD with nine decimals"),
  received_usd: text("What was added to the credit, in USD with nine decimals"),
  refunded_usd: text("What refunds have taken back, in USD with nine decimals"),
  disputed_usd: text("What disputes of the card's holder have taken back, in USD with nine decimals"),
  url: textOrNull("Stripe's page, on which a person pays; null: it is not open"),
  failure: textOrNull("Stripe's code of the last failure, such as `insufficient_funds`; null: none"),
  retry_at: textOrNull("When a declined payment is tried again, ISO 8601 in UTC; null: never"),
  payment_intent: textOrNull("Stripe's id of the payment; the ledger's reference is `stripe:` and this id"),
  made_by: text("The person, `operator`, or `weir` for an automatic one"),
  created_at: text("When it was made, ISO 8601 in UTC"),
  ended_at: textOrNull("When it was credited or given up, ISO 8601 in UTC; null: it is under way"),
  refunds: Type.Array(RefundView, { description: "Its refunds, the oldest first" }),
});
export type TopUpView = Static<typeof TopUpView>;

const limitUsd = (title: string) => Type.Optional(usd(title));

export const TopUpSettingsForm = Type.Object({
  enabled: Type.Optional(
    Type.Boolean({
      title: "Whether the saved card is charged when the available credit falls short",
      description: "true or false",
    }),
  ),
  threshold_usd: limitUsd("The available credit below which the card is charged, from 5 to 10,000 USD"),
  amount_usd: limitUsd("What is charged each time, from 5 to 2,500 USD in whole cents"),
  monthly_cap_usd: limitUsd("The most that automatic top-ups charge in a month (UTC), at least one amount"),
  remove_card: Type.Optional(
    Type.Boolean({
      title: "Whether the saved card is forgotten, which switches automatic top-up off",
      description: "true or false",
    }),
  ),
});
export type TopUpSettingsForm = Static<typeof TopUpSettingsForm>;

const CardView = Type.Object({
  brand: text("Its network, such as `visa`"),
  last_four: text("Its last four digits"),
  expires: text("The last month in which it is accepted, as YYYY-MM"),
});

export const TopUpSettingsView = Type.Object({
  offered: Type.Boolean({ description: "Whether the service takes cards; false: the operator has set no key of Stripe" }),
  live: Type.Boolean({ description: "Whether payments move money; false: Stripe's test mode" }),
  card: Type.Union([CardView, Type.Null()], {
    description: "The saved card, which the first payment saves; null: there is none",
  }),
  enabled: Type.Boolean({ description: "Whether the card is charged when the available credit is below the threshold" }),
  paused: Type.Boolean({
    description: "Whether it waits until a person has authenticated a payment, which the bank of the card asks for",
  }),
  threshold_usd: textOrNull("The threshold, in USD with nine decimals; null: never set"),
  amount_usd: textOrNull("What is charged each time, in USD with nine decimals; null: never set"),
  monthly_cap_usd: textOrNull(
    "The most that automatic top-ups charge in a month (UTC), in USD with nine decimals; null: never set",
  ),
  month_usd: text("What automatic top-ups have charged or are charging in this month (UTC), in USD with nine decimals"),
  declines: Type.Integer({ description: "Declined payments in a row; the third one switches automatic top-up off" }),
});
export type TopUpSettingsView = Static<typeof TopUpSettingsView>;

// Amounts

const nanoPerCent = 10_000_000n;

export function centsOf(amount: NanoUsd): number {
  return Number(amount / nanoPerCent);
}

export function ofCents(cents: number): NanoUsd {
  return BigInt(cents) * nanoPerCent;
}

/** The amount without fractions of a cent. */
export function wholeCents(amount: NanoUsd): NanoUsd {
  return amount - (amount % nanoPerCent);
}

/** @throws DomainError invalid_field */
export function parseBetween({ field, text, min, max }: { field: string; text: string; min: NanoUsd; max: NanoUsd }): NanoUsd {
  const amount = parseAmount({ field, text, decimalsMax: 2 });
  if (amount >= min && amount <= max) return amount;
  const [from, to] = [min, max].map((bound) => formatUsd(bound).replace(/\.?0{7,9}$/, ""));
  throw new DomainError("invalid_field", `Cannot take "${text}" as ${field}: an amount from ${from} to ${to} USD is needed`, {
    field,
  });
}

/** What one top-up charges. @throws DomainError invalid_field */
export function parseTopUpAmount(field: string, text: string): NanoUsd {
  return parseBetween({ field, text, min: ofCents(topUpCentsMin), max: ofCents(topUpCentsMax) });
}
