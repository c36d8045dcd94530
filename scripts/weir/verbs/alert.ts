import { id, numbers, onOff, rows, text, usd } from "../value.ts";
import { ofWorkspace, withId, workspace, type Verb } from "../verb.ts";

const theWebhook = withId("id of the webhook");
const ruleColumns = ["id", "kind", "percents", "balance_usd", "armed", "mail", "webhooks"];

const ruleVerbs: readonly Verb[] = [
  {
    noun: "alert",
    verb: "create",
    summary: "Tell of a threshold of a limit, of a low balance or of an event",
    method: "POST",
    path: "/alert-rules",
    flags: [
      ofWorkspace,
      {
        name: "kind",
        field: "kind",
        value: text,
        required: true,
        help: "key_month, workspace_month, key_day, workspace_day, member_month, balance, provider_key_refused, top_up_failed or new_findings",
      },
      { name: "at", field: "percents", value: numbers, help: "thresholds in percent of the limit; default 50,80,100" },
      { name: "below", field: "balance_usd", value: usd, help: "the amount below which the kind balance tells" },
      { name: "mail", field: "mail", value: onOff, help: "to admins, and to the owner of the key; default on" },
      { name: "webhooks", field: "webhooks", value: onOff, help: "to the webhooks of the workspace; default on" },
    ],
  },
  {
    noun: "alert",
    verb: "rules",
    summary: "List the rules in the order of their creation",
    method: "GET",
    path: "/alert-rules",
    flags: [ofWorkspace],
    columns: ruleColumns,
  },
  {
    noun: "alert",
    verb: "delete",
    summary: "Delete a rule; what it told stays listed",
    method: "DELETE",
    path: "/alert-rules/:id",
    flags: [withId("id of the rule"), workspace],
  },
];

const toldVerbs: readonly Verb[] = [
  {
    noun: "alert",
    verb: "list",
    summary: "List what was told, newest first; --json has what became of it at each webhook",
    method: "GET",
    path: "/alerts",
    flags: [
      ofWorkspace,
      { name: "webhook", field: "webhook", value: id, help: "only those that this webhook gets" },
      { name: "limit", field: "limit", value: rows, help: "how many, 1 to 200; default 50" },
      { name: "before", field: "before", value: id, help: "only those older than this alert" },
    ],
    columns: ["created_at", "id", "kind", "text", "mails"],
  },
  {
    noun: "alert",
    verb: "replay",
    summary: "Send an alert again, with the same id",
    method: "POST",
    path: "/alerts/:id/replay",
    flags: [
      withId("id of the alert"),
      workspace,
      { name: "webhook", field: "webhook", value: id, help: "only to this webhook; default: to all of the workspace" },
    ],
  },
  {
    noun: "alert",
    verb: "test",
    summary: "Send a test to a webhook, once, and tell how it answered",
    method: "POST",
    path: "/alert-webhooks/:id/test",
    flags: [theWebhook, workspace],
    show: ({ deliveries }) => (Array.isArray(deliveries) ? deliveries : []).map(deliveryLine).join("\n"),
  },
];

function deliveryLine({ state, status, failure }: Record<string, unknown>): string {
  const answer = typeof status === "number" ? `it answered ${status}` : `the failure is ${String(failure)}`;
  return state === "delivered" ? `delivered: ${answer}` : `not delivered: ${answer}`;
}

const webhookVerbs: readonly Verb[] = [
  {
    noun: "alert-webhook",
    verb: "create",
    summary: "Add a webhook that gets the alerts; its secret is shown once",
    method: "POST",
    path: "/alert-webhooks",
    flags: [ofWorkspace, { name: "url", field: "url", value: text, required: true, help: "its https address" }],
  },
  {
    noun: "alert-webhook",
    verb: "list",
    summary: "List the webhooks in the order of their creation",
    method: "GET",
    path: "/alert-webhooks",
    flags: [ofWorkspace],
  },
  {
    noun: "alert-webhook",
    verb: "rotate",
    summary: "Give a webhook a new secret, shown once; for a day the former one signs as well",
    method: "POST",
    path: "/alert-webhooks/:id/rotate",
    flags: [theWebhook, workspace],
  },
  {
    noun: "alert-webhook",
    verb: "delete",
    summary: "Delete a webhook with its secret and its deliveries",
    method: "DELETE",
    path: "/alert-webhooks/:id",
    flags: [theWebhook, workspace],
    confirm: "A deleted webhook cannot be restored",
  },
];

export const alertVerbs: readonly Verb[] = [...ruleVerbs, ...toldVerbs, ...webhookVerbs];
