/**
 * What a webhook gets: Weir's own JSON, or the message that Slack, Microsoft Teams or PagerDuty documents. Each message is made of the
 * stored JSON at every attempt, so all attempts at a delivery say the same.
 *
 * Slack and Teams take whatever is sent to their secret address, and PagerDuty what carries its integration key: none checks a signature,
 * so only Weir's own format is signed. Names that users chose are put where these services interpret no markup, so that none becomes a link
 * or mentions a channel. No message changes or resolves an earlier one: in PagerDuty a person resolves it.
 *
 * - Slack, incoming webhooks: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 * - Teams, "When a Teams webhook request is received": https://learn.microsoft.com/connectors/teams, an Adaptive Card
 * - PagerDuty, Events API v2: https://developer.pagerduty.com/docs/events-api-v2/trigger-events
 */
import { shortened } from "../../kernel/text.ts";
import { alertKinds, isAlertKind, isLimitKind, kindTitle } from "./kinds.ts";

interface WebhookFormat {
  title: string;
  /** What its secret is: one of ours that signs, a key that the receiver gave out, or the whole address. */
  secret: "signs" | "key" | "address";
}

export const webhookFormats = {
  weir: { title: "Webhook", secret: "signs" },
  slack: { title: "Slack", secret: "address" },
  teams: { title: "Microsoft Teams", secret: "address" },
  pagerduty: { title: "PagerDuty", secret: "key" },
} as const satisfies Record<string, WebhookFormat>;

export type WebhookFormatName = keyof typeof webhookFormats;

// Object.keys has the type string[]; these are the keys of the table above.
export const webhookFormatNames = Object.keys(webhookFormats) as WebhookFormatName[];

/** PagerDuty's address in each of its service regions. */
export const pagerDutyUrls = {
  us: "https://events.pagerduty.com/v2/enqueue",
  eu: "https://events.eu.pagerduty.com/v2/enqueue",
} as const;

/** PagerDuty's integration keys have this many letters and digits. */
export const integrationKeyCharacters = 32;

/** The alert as it is stored, and as Weir's own format sends it. */
interface StoredAlert {
  id: string;
  type: string;
  created_at: string;
  workspace: { name: string };
  text: string;
  data: unknown;
}

/** @param body the stored JSON of an alert @param secret what the format's secret is */
export function bodyIn(format: WebhookFormatName, { body, secret }: { body: string; secret: string }): string {
  if (format === "weir") return body;
  // Only alerts.ts writes these bodies, and no stored one changes.
  const alert = JSON.parse(body) as StoredAlert;
  if (format === "pagerduty") return JSON.stringify(pagerDutyEvent(alert, secret));
  return JSON.stringify(format === "slack" ? slackMessage(alert) : teamsMessage(alert));
}

const slackHeaderCharactersMax = 150;
const slackTextCharactersMax = 3_000;

/** Its blocks are plain text. `text` is what notifications show, and there Slack interprets markup. */
function slackMessage({ type, text, workspace }: StoredAlert): object {
  const plain = (words: string, max: number) => ({ type: "plain_text", text: shortened(words, max), emoji: false });
  return {
    text: escapedForSlack(shortened(`${workspace.name}: ${text}`, slackTextCharactersMax)),
    blocks: [
      { type: "header", text: plain(kindTitle(type), slackHeaderCharactersMax) },
      { type: "section", text: plain(text, slackTextCharactersMax) },
      { type: "context", elements: [plain(`Weir, workspace ${workspace.name}`, slackTextCharactersMax)] },
    ],
  };
}

/** The three characters that begin a link, a mention or an entity. */
function escapedForSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** An Adaptive Card. Its text runs interpret no Markdown, unlike text blocks. */
function teamsMessage({ type, text, workspace }: StoredAlert): object {
  const line = (words: string, look: object = {}) => ({
    type: "RichTextBlock",
    inlines: [{ type: "TextRun", text: words, ...look }],
  });
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body: [
      line(kindTitle(type), { weight: "Bolder", size: "Medium" }),
      line(text),
      line(`Weir, workspace ${workspace.name}`, { isSubtle: true, size: "Small" }),
    ],
  };
  return {
    type: "message",
    attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content }],
  };
}

const pagerDutySummaryCharactersMax = 1_024;

/** The alert's id removes duplicates, so a repeated delivery opens no second incident. */
function pagerDutyEvent({ id, type, created_at: at, text, workspace, data }: StoredAlert, routingKey: string): object {
  return {
    routing_key: routingKey,
    event_action: "trigger",
    dedup_key: id,
    client: "Weir",
    payload: {
      summary: shortened(text, pagerDutySummaryCharactersMax),
      source: `Weir, workspace ${workspace.name}`,
      severity: severityOf(type, data),
      timestamp: at,
      class: type,
      custom_details: data,
    },
  };
}

/** `error`: requests are refused, or soon will be. */
function severityOf(type: string, data: unknown): "info" | "warning" | "error" {
  if (!isAlertKind(type)) return "info";
  if (isLimitKind(type)) {
    const isSpent = typeof data === "object" && data !== null && "percent" in data && data.percent === 100;
    return isSpent ? "error" : "warning";
  }
  const { tells } = alertKinds[type];
  if (tells === "schedule") return "info";
  return tells === "chosen" ? "warning" : "error";
}
