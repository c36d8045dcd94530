/**
 * One webhook: its deliveries, and how to test it, replace its secret or delete it; and the form that adds one. A secret is shown once; for
 * a day after its replacement the old one is valid as well.
 */
import type { AlertView } from "../../../accounts/alerts/schema.ts";
import type { AlertWebhookView, NewAlertWebhookView } from "../../../accounts/alerts/webhooks.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { alertWebhookUrlCharactersMax } from "../../../accounts/limits.ts";
import { alertEndpoints, alertWebhookEndpoints } from "../../../control-api/endpoints/alerts.ts";
import { markup, type Html } from "../../../http/html.ts";
import { hiddenFields, formState } from "../../page-forms.ts";
import type { FormFields, ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { providerFormMs } from "../../limits.ts";
import { actionButton, confirmForm, form } from "../../look/forms.ts";
import { dialog, opener, section, copyField, closeButton, cursorLinks, time, userText } from "../../look/parts.ts";
import { idToCopy, thingPage } from "../../look/thing.ts";
import { alertTable, replay } from "./alerts-page.ts";

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
    title: "Webhook",
    lead: userText(webhook.url),
    trail: trailOf(call),
    actions: buttons,
    main: markup`${deleting}
      ${thingPage({ facts: webhookFacts(webhook), note, main: section("received", "Delivery log", markup`${deliveries}${links}`) })}`,
  };
}

function ofWebhook(alert: AlertView, webhook: string): AlertView {
  return { ...alert, deliveries: alert.deliveries.filter(({ webhook_id: id }) => id === webhook) };
}

function webhookFacts({
  id,
  created_at: since,
  former_secret_until: until,
}: AlertWebhookView): Parameters<typeof thingPage>[0]["facts"] {
  return [
    ["Id", idToCopy({ id: "webhook-id", value: id, what: "the id" })],
    ["Added", time(since)],
    ["Old secret valid until", until === null ? null : time(until)],
  ];
}

function stepsOf(webhook: AlertWebhookView, call: PageCall): { buttons: Html; deleting: Html; note: Html } {
  const testing = actionButton({ action: call.path, label: "Send a test", hidden: hiddenFields(call, "test") });
  const rotating = actionButton({ action: call.path, label: "Replace the secret", hidden: hiddenFields(call, "rotate") });
  const path = call.link(`/alerts/webhooks/${encodeURIComponent(webhook.id)}/delete`);
  const deleting = opener({ dialog: "delete", path, label: "Delete", quiet: true });
  const deletion = dialog({ id: "delete", title: "Delete the webhook?", body: deleteForm(webhook, call), asks: null });
  const words =
    "A test is sent once and waits ten seconds for the answer. A new secret is valid at once, and the old one for another day.";
  return { buttons: markup`${testing}${rotating}${deleting}`, deleting: deletion, note: markup`<p class="hint">${words}</p>` };
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
  return { show: shownSecret(await call.control(alertWebhookEndpoints.rotate, { id: call.params["id"] ?? "" }), call) };
}

async function remove(call: PageCall): Promise<ActionResult> {
  await call.control(alertWebhookEndpoints.delete, { id: call.params["id"] ?? "" });
  return { goTo: call.link("/alerts"), said: "The webhook is deleted." };
}

export const newAlertWebhookPage: Page = {
  of: "workspace",
  path: "/alerts/webhooks/new",
  navigation: null,
  roles: ["admin", "super_admin"],
  render: renderNew,
  actions: { create },
};

async function renderNew(call: PageCall): Promise<PageContent> {
  return {
    title: "Add a webhook",
    lead: "It gets every alert whose rule says webhooks, as a signed POST with JSON.",
    trail: [{ path: call.link("/alerts"), label: "Alerts" }],
    main: form({
      id: "new-webhook",
      action: call.path,
      hidden: hiddenFields(call, "create"),
      fields: [
        {
          kind: "url",
          name: "url",
          label: "Address",
          hint: "With https, a public host, and without a query. Redirects are not followed.",
          charactersMax: alertWebhookUrlCharactersMax,
          required: true,
        },
      ],
      state: formState(call, { action: "create" }),
      submit: "Add it",
      cancelPath: call.link("/alerts"),
    }),
  };
}

async function create(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const made = await call.control(alertWebhookEndpoints.create, { url: typed.text("url") });
  return { show: shownSecret(made, call) };
}

/** The only page that ever shows the secret. */
function shownSecret({ id, url, secret }: NewAlertWebhookView, call: PageCall): PageContent {
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
