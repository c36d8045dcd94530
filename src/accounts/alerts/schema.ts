/**
 * Forms and views of alerts and their rules in the control API and the Console. Those of webhooks are in webhooks.ts.
 */
import { Type, type Static } from "@sinclair/typebox";
import { text, textOrNull } from "../../http/json-schema.ts";
import { line, usd } from "../workspaces/fields.ts";
import { alertPercentsMax, emailCharactersMax } from "../limits.ts";
import { alertKindNames, type AlertKind } from "./kinds.ts";

const Kind = Type.Unsafe<AlertKind>(
  Type.Union(
    alertKindNames.map((name) => Type.Literal(name)),
    { description: `one of ${alertKindNames.join(", ")}` },
  ),
);

const Percents = Type.Array(Type.Integer(), {
  minItems: 1,
  maxItems: alertPercentsMax,
  title: "The thresholds in percent of the limit, for kinds with a limit; by default 50, 80 and 100",
  description: "a list of whole numbers from 1 to 100",
});

/** Addresses of members are longer than ids of keys. */
const Only = Type.Union([line("the id of a key or the address of a member", { maxLength: emailCharactersMax }), Type.Null()], {
  title: "Only this key or this member, for kinds that watch all of them",
  description: "the id of a key, the address of a member, or null for all of them,",
});

const onOff = (title: string) => Type.Optional(Type.Boolean({ title, description: "true or false" }));

export const AlertRuleForm = Type.Object({
  kind: Kind,
  percents: Type.Optional(Percents),
  only: Type.Optional(Only),
  balance_usd: Type.Optional(usd("For the kind balance: sends an alert when the balance falls below this amount")),
  mail: onOff("Whether admins, and the owner of the key that it is about, get a mail; by default true"),
  webhooks: onOff("Whether the workspace's webhooks get it; by default true"),
});
export type AlertRuleForm = Static<typeof AlertRuleForm>;

/** A rule keeps its kind. */
export const AlertRuleEdit = Type.Omit(AlertRuleForm, ["kind"]);
export type AlertRuleEdit = Static<typeof AlertRuleEdit>;

export const AlertRuleView = Type.Object({
  id: text("Its id"),
  workspace_id: text("The workspace that it belongs to"),
  kind: Kind,
  percents: Type.Array(Type.Integer(), { description: "The thresholds in percent of the limit; empty for kinds without one" }),
  only: textOrNull(
    "The id of the only key, or the address of the only member, that it watches; null: all of them, or its kind watches neither",
  ),
  balance_usd: textOrNull("Sends an alert when the balance falls below this amount of USD; null for other kinds"),
  armed: Type.Boolean({
    description: "false: it has sent its alert, and sends another only after the balance was a quarter above the amount",
  }),
  mail: Type.Boolean({ description: "Whether its alerts are mailed" }),
  webhooks: Type.Boolean({ description: "Whether the workspace's webhooks get it" }),
  created_at: text("When, ISO 8601 in UTC"),
});
export type AlertRuleView = Static<typeof AlertRuleView>;

export const AlertRuleDeleted = Type.Object({ id: text("Its id"), deleted: Type.Literal(true, { description: "true" }) });
export type AlertRuleDeleted = Static<typeof AlertRuleDeleted>;

const DeliveryState = Type.Union([Type.Literal("waiting"), Type.Literal("delivered"), Type.Literal("given_up")], {
  description: "`waiting`, `delivered` or `given_up`",
});

export const AlertDeliveryView = Type.Object({
  webhook_id: text("The webhook"),
  state: DeliveryState,
  attempts: Type.Integer({ description: "How often it was tried since it was queued or replayed" }),
  status: Type.Union([Type.Integer(), Type.Null()], { description: "The HTTP status of the last answer; null: there was none" }),
  failure: textOrNull(
    "Why there was no answer: `timeout`, `unreachable`, `private_address`, `answer_too_large`, `secret_unavailable`, or `queue_full` if it was not tried",
  ),
  tried_at: textOrNull("When it was last tried, ISO 8601 in UTC"),
  next_at: textOrNull("When it is tried next, ISO 8601 in UTC; null: no more"),
});
export type AlertDeliveryView = Static<typeof AlertDeliveryView>;

export const AlertView = Type.Object({
  id: text("Its id, which webhooks get as `id`"),
  kind: text("The kind of its rule, or `test`"),
  text: text("What it says"),
  created_at: text("When, ISO 8601 in UTC"),
  mails: Type.Integer({ description: "How many people got a mail" }),
  deliveries: Type.Array(AlertDeliveryView, { description: "Its outcome at each webhook" }),
});
export type AlertView = Static<typeof AlertView>;

export const AlertList = Type.Object({
  data: Type.Array(AlertView, { description: "What was found, newest first" }),
  next: textOrNull("The value of `before` for the next page; null: this is the last page"),
});
export type AlertList = Static<typeof AlertList>;
