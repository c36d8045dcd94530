/**
 * One webhook: its deliveries, and how to test it, replace its secret or delete it; and the forms that add one: for a program, Slack, Teams
 * or PagerDuty, each with its own address and the steps at the receiver. The secret that signs is shown once; for a day after its
 * replacement the old one is valid as well. What a receiver gave out is never shown again.
 */
import type { AlertView } from "../../../accounts/alerts/schema.ts";
import {
  integrationKeyCharacters,
  pagerDutyUrls,
  webhookFormatNames,
  webhookFormats,
  type WebhookFormatName,
} from "../../../accounts/alerts/webhook-formats.ts";
import type { AlertWebhookView, NewAlertWebhookView } from "../../../accounts/alerts/webhooks.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { alertWebhookNameCharactersMax, alertWebhookUrlCharactersMax } from "../../../accounts/limits.ts";
import { alertEndpoints, alertWebhookEndpoints } from "../../../control-api/endpoints/alerts.ts";
import { markup, type Html } from "../../../http/html.ts";
import { outward } from "../../../http/page.ts";
import { hiddenFields, formState } from "../../page-forms.ts";
import type { FormFields, ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { providerFormMs } from "../../limits.ts";
import { actionButton, confirmForm, form, type Field } from "../../look/forms.ts";
import { dialog, opener, section, copyField, closeButton, cursorLinks, time, userText } from "../../look/parts.ts";
import { choiceList } from "../../look/steps.ts";
import { idToCopy, thingPage } from "../../look/thing.ts";
import { alertTable, formatWords, replay } from "./alerts-page.ts";
import { changesFact } from "./audit-page.ts";

export const alertWebhookPage: Page = {
  of: "workspace",
  path: "/alerts/webhooks/:id",
  navigation: null,
  roles: ["admin", "super_admin"],
  // A test waits for the receiver.
  deadlineMs: providerFormMs,
  render,
  actions: { test, rotate, delete: remove, replay: (call, typed) => replay(call, typed, { webhook: call.params["id"] ?? "" }) },
};

/** For browsers without script, where the dialog cannot open. */
export const deleteAlertWebhookPage: Page = {
  of: "workspace",
  path: "/alerts/webhooks/:id/delete",
  navigation: null,
  roles: ["admin", "super_admin"],
  render: async (call) => ({
    title: "Delete the webhook?",
    trail: trailOf(call),
    main: deleteForm(await findWebhook(call), call),
  }),
  actions: { delete: remove },
};

const trailOf = (call: PageCall) => [{ path: call.link("/alerts"), label: "Alerts" }];

/** @throws DomainError not_found */
async function findWebhook(call: PageCall): Promise<AlertWebhookView> {
  const { data } = await call.control(alertWebhookEndpoints.list);
  const webhook = data.find(({ id }) => id === call.params["id"]);
  if (webhook) return webhook;
  throw new DomainError("not_found", "There is no such webhook in this workspace");
}

async function render(call: PageCall): Promise<PageContent> {
  const webhook = await findWebhook(call);
  const before = call.query.get("before");
  const query = { webhook: webhook.id, ...(before !== null && { before }) };
  const sent = await call.control(alertEndpoints.list, query);
  const links = cursorLinks({
    shown: `${sent.data.length} alerts`,
    firstPath: before === null ? null : call.path,
    nextPath: sent.next === null ? null : `${call.path}?before=${sent.next}`,
  });
  const rows = sent.data.map((alert) => ofWebhook(alert, webhook.id));
  const deliveries = alertTable(
    { rows, canReplay: true, ofWebhook: true, empty: "No deliveries yet. Send a test to see whether it answers." },
    call,
  );
  const { buttons, deleting, note } = stepsOf(webhook, call);
  return {
    title: webhook.name === "" ? webhookFormats[webhook.format].title : webhook.name,
    lead: userText(webhook.url),
    trail: trailOf(call),
    actions: buttons,
    main: markup`${deleting}
      ${thingPage({ facts: [...webhookFacts(webhook), ...changesFact(webhook.id, call)], note, main: section("received", "Delivery log", markup`${deliveries}${links}`) })}`,
  };
}

function ofWebhook(alert: AlertView, webhook: string): AlertView {
  return { ...alert, deliveries: alert.deliveries.filter(({ webhook_id: id }) => id === webhook) };
}

function webhookFacts({
  id,
  format,
  created_at: since,
  former_secret_until: until,
}: AlertWebhookView): Parameters<typeof thingPage>[0]["facts"] {
  return [
    ["Id", idToCopy({ id: "webhook-id", value: id, what: "the id" })],
    ["Receives", formatWords(format)],
    ["Added", time(since)],
    ...(signs(format) ? ([["Old secret valid until", until === null ? null : time(until)]] as const) : []),
  ];
}

/** Whether its secret is one of ours, and can be replaced here. */
function signs(format: WebhookFormatName): boolean {
  return webhookFormats[format].secret === "signs";
}

function stepsOf(webhook: AlertWebhookView, call: PageCall): { buttons: Html; deleting: Html; note: Html } {
  const testing = actionButton({ action: call.path, label: "Send a test", hidden: hiddenFields(call, "test") });
  const rotating = actionButton({ action: call.path, label: "Replace the secret", hidden: hiddenFields(call, "rotate") });
  const path = call.link(`/alerts/webhooks/${encodeURIComponent(webhook.id)}/delete`);
  const deleting = opener({ dialog: "delete", path, label: "Delete", quiet: true });
  const deletion = dialog({ id: "delete", title: "Delete the webhook?", body: deleteForm(webhook, call), asks: null });
  const test = "A test is sent once and waits ten seconds for the answer.";
  const replacing = "A new secret is valid at once, and the old one for another day.";
  const words = signs(webhook.format) ? `${test} ${replacing}` : test;
  return {
    buttons: markup`${testing}${signs(webhook.format) ? rotating : null}${deleting}`,
    deleting: deletion,
    note: markup`<p class="hint">${words}</p>`,
  };
}

function deleteForm({ id, url }: AlertWebhookView, call: PageCall): Html {
  const path = call.link(`/alerts/webhooks/${encodeURIComponent(id)}`);
  return confirmForm({
    id: "delete",
    warning: markup`The webhook ${userText(url)} is deleted with its secret and what waits for it, which cannot be undone.`,
    action: path,
    hidden: hiddenFields(call, "delete"),
    submit: "Delete",
    cancelPath: path,
  });
}

async function test(call: PageCall): Promise<ActionResult> {
  const { deliveries } = await call.control(alertWebhookEndpoints.test, { id: call.params["id"] ?? "" });
  const delivery = deliveries[0];
  if (delivery?.state === "delivered") return { goTo: call.path, said: "The webhook accepted the test." };
  const answer = delivery?.status ? `it answered ${delivery.status}` : `the failure is ${delivery?.failure ?? "unknown"}`;
  return { goTo: call.path, said: `The test did not arrive: ${answer}.`, warns: true };
}

async function rotate(call: PageCall): Promise<ActionResult> {
  const made = await call.control(alertWebhookEndpoints.rotate, { id: call.params["id"] ?? "" });
  return { show: shownSecret(made, made.secret ?? "", call) };
}

async function remove(call: PageCall): Promise<ActionResult> {
  await call.control(alertWebhookEndpoints.delete, { id: call.params["id"] ?? "" });
  return { goTo: call.link("/alerts"), said: "The webhook is deleted." };
}

// Adding one: the choice of what gets the alerts, and a form for each.

const forAdmins = { of: "workspace", navigation: null, roles: ["admin", "super_admin"] } as const;

export const newAlertWebhookPage: Page = {
  ...forAdmins,
  path: "/alerts/webhooks/new",
  async render(call) {
    const choices = webhookFormatNames.map((format) => ({
      path: call.link(`/alerts/webhooks/new/${format}`),
      label: receivers[format].label,
      words: receivers[format].words,
    }));
    return {
      title: "Add a webhook",
      lead: "What should get the alerts? It gets those of every rule that says webhooks.",
      trail: [...trailOf(call)],
      main: choiceList(choices),
    };
  },
};

interface Receiver {
  label: string;
  words: string;
  /** What to do there before the form is filled in, one step an item. */
  steps: readonly string[];
  /** Where its documentation is; null: none. */
  docs: string | null;
}

const receivers: Record<WebhookFormatName, Receiver> = {
  slack: {
    label: "Slack",
    words: "A message in a channel.",
    steps: [
      "Create an app at api.slack.com/apps, or open one that you have.",
      "Switch on Incoming Webhooks, and add a webhook to the channel.",
      "Copy the webhook’s URL, which begins with https://hooks.slack.com/.",
    ],
    docs: "https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/",
  },
  teams: {
    label: "Microsoft Teams",
    words: "A card in a channel or chat.",
    steps: [
      "At the channel, open More options (•••) and Workflows.",
      "Choose the template that posts to a channel when a webhook request is received, and finish it.",
      "Copy the URL that it shows at the end, with everything after the question mark.",
    ],
    docs: "https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using",
  },
  pagerduty: {
    label: "PagerDuty",
    words: "An incident at a service. A repeated alert opens no second one; people resolve it.",
    steps: ["At the service, open Integrations and add the integration Events API V2.", "Copy its Integration Key."],
    docs: "https://developer.pagerduty.com/docs/events-api-v2/trigger-events/",
  },
  weir: {
    label: "Your own program",
    words: "A signed POST with JSON.",
    steps: [],
    docs: null,
  },
};

export const newWebhookOfFormatPage: Page = {
  ...forAdmins,
  path: "/alerts/webhooks/new/:format",
  render: renderNew,
  actions: { create },
};

/** @throws DomainError not_found */
function formatOf(call: PageCall): WebhookFormatName {
  const found = webhookFormatNames.find((name) => name === call.params["format"]);
  if (found) return found;
  throw new DomainError("not_found", "There is no such format of webhooks");
}

async function renderNew(call: PageCall): Promise<PageContent> {
  const format = formatOf(call);
  const { label, words, steps, docs } = receivers[format];
  const entry = form({
    id: "new-webhook",
    action: call.path,
    hidden: hiddenFields(call, "create"),
    fields: fieldsOf(format, call),
    state: formState(call, { action: "create", values: { url: format === "pagerduty" ? pagerDutyUrls.us : "" } }),
    submit: "Add it",
    cancelPath: call.link("/alerts/webhooks/new"),
  });
  const link = docs === null ? null : markup`<p>${outward(docs, markup`Documentation of ${label}`)}</p>`;
  const list = markup`<ol>${steps.map((step) => markup`<li>${step}</li>`)}</ol>${link}`;
  return {
    title: label,
    lead: words,
    trail: [...trailOf(call), { path: call.link("/alerts/webhooks/new"), label: "Add a webhook" }],
    main: steps.length === 0 ? entry : markup`${section("prepare", `1. At ${label}`, list)}${section("add", "2. Here", entry)}`,
  };
}

function fieldsOf(format: WebhookFormatName, call: PageCall): Field[] {
  const name: Field = {
    kind: "text",
    name: "name",
    label: "Name",
    hint: "Such as the channel or the service, to tell several apart.",
    charactersMax: alertWebhookNameCharactersMax,
  };
  if (format === "pagerduty") return [keyField, regionField, name];
  const local = call.parts.control.isLocal ? " A program on this machine works too, such as http://localhost:9000/." : "";
  const hints = {
    weir: `With https, a public host, and without a query.${local} Redirects are not followed.`,
    slack: `It is kept sealed and not shown again: whoever has it may post.${local}`,
    teams: `It is kept sealed and not shown again: whoever has it may post.${local}`,
  };
  const url: Field = {
    kind: "url",
    name: "url",
    label: format === "weir" ? "Address" : "Webhook URL",
    hint: hints[format],
    charactersMax: alertWebhookUrlCharactersMax,
    required: true,
  };
  return [url, name];
}

const keyField: Field = {
  kind: "password",
  name: "integration_key",
  label: "Integration key",
  hint: `${integrationKeyCharacters} letters and digits. It is kept sealed and not shown again.`,
  charactersMax: integrationKeyCharacters,
  autocomplete: "off",
  required: true,
};

const regionField: Field = {
  kind: "choice",
  name: "url",
  label: "Service region",
  choices: [
    { value: pagerDutyUrls.us, label: "US" },
    { value: pagerDutyUrls.eu, label: "EU" },
  ],
  required: true,
};

async function create(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const format = formatOf(call);
  const made = await call.control(alertWebhookEndpoints.create, {
    format,
    name: typed.text("name"),
    url: typed.text("url"),
    ...(format === "pagerduty" && { integration_key: typed.text("integration_key") }),
  });
  if (made.secret !== null) return { show: shownSecret(made, made.secret, call) };
  const said = "The webhook is added. A test shows whether it arrives.";
  return { goTo: call.link(`/alerts/webhooks/${encodeURIComponent(made.id)}`), said };
}

/** The only page that ever shows the secret. */
function shownSecret({ id, url }: NewAlertWebhookView, secret: string, call: PageCall): PageContent {
  const path = call.link(`/alerts/webhooks/${encodeURIComponent(id)}`);
  const body = markup`<p>This is the only time that the secret is shown. The receiver uses it to verify that an alert comes from here.</p>
    ${copyField({ id: "webhook-secret", label: "Secret", value: secret })}${closeButton("I have stored it")}`;
  return {
    title: "Alerts",
    main: markup`${dialog({ id: "made-secret", title: "The secret of the webhook", body, asks: "always", opensAtOnce: true, thenPath: path })}
      <p>The webhook ${userText(url)} has a new secret.</p>
      <p class="actions"><a class="button" href="${path}">See the webhook</a></p>`,
  };
}
