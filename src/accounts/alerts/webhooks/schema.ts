/** Forms and views of the webhooks that get alerts. Only the answer that makes a secret has it. */
import { Type, type Static } from "@sinclair/typebox";
import { alertWebhookUrlCharactersMax } from "../../limits.ts";
import { line } from "../../workspaces/fields.ts";

const text = (description: string) => Type.String({ description });
const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const AlertWebhookForm = Type.Object({ url: line("an https address", { maxLength: alertWebhookUrlCharactersMax }) });
export type AlertWebhookForm = Static<typeof AlertWebhookForm>;

const webhook = {
  id: text("Its id"),
  workspace_id: text("The workspace that it belongs to"),
  url: text("The address; auditors see only its host"),
  former_secret_until: textOrNull("Until when the former secret signs as well, ISO 8601 in UTC; null: only one signs"),
  created_at: text("When, ISO 8601 in UTC"),
};
export const AlertWebhookView = Type.Object(webhook);
export type AlertWebhookView = Static<typeof AlertWebhookView>;

export const NewAlertWebhookView = Type.Object({
  ...webhook,
  secret: text("Verifies the signatures. It is shown once"),
});
export type NewAlertWebhookView = Static<typeof NewAlertWebhookView>;

export const AlertWebhookDeleted = Type.Object({
  id: text("Its id"),
  deleted: Type.Literal(true, { description: "true" }),
});
export type AlertWebhookDeleted = Static<typeof AlertWebhookDeleted>;
