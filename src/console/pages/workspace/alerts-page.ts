/**
 * The rules of a workspace's alerts, the webhooks that get them, and the alerts that were sent. It says which of mail and webhooks work at
 * the moment, since an alert that nothing carries helps no one. The list of alerts shows the worst delivery of each, and can send it again.
 * A webhook's page shows the same list.
 */
import { kindTitle, alertKinds, watchedBy } from "../../../accounts/alerts/kinds.ts";
import type { AlertList, AlertRuleView, AlertView, AlertDeliveryView } from "../../../accounts/alerts/schema.ts";
import { webhookFormats } from "../../../accounts/alerts/webhook-formats.ts";
import type { AlertWebhookView } from "../../../accounts/alerts/webhooks.ts";
import { managers } from "../../../accounts/audit/actor.ts";
import { alertEndpoints, alertRuleEndpoints, alertWebhookEndpoints } from "../../../control-api/endpoints/alerts.ts";
import { markup, type Html } from "../../../http/html.ts";
import { actionButton } from "../../look/forms.ts";
import { emptyState, section, cursorLinks, table, type Column, time, userText, badge, money, notice } from "../../look/parts.ts";
import { hiddenFields } from "../../page-forms.ts";
import type { FormFields, ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { roleName } from "../../viewer.ts";

export const alertsPage: Page = {
  of: "workspace",
  path: "/alerts",
  navigation: { section: "Workspace", label: "Alerts", icon: "alerts" },
  roles: ["auditor", "admin", "super_admin"],
  render,
  actions: { "delete-rule": deleteRule, replay },
};

async function render(call: PageCall): Promise<PageContent> {
  const { data: rules } = await call.control(alertRuleEndpoints.list);
  const { data: webhooks } = await call.control(alertWebhookEndpoints.list);
  const before = call.query.get("before");
  const sent = await call.control(alertEndpoints.list, before === null ? {} : { before });
  const may = manages(call);
  const create = may ? markup`<a class="button" href="${call.link("/alerts/new")}">Set an alert</a>` : null;
  const add = may ? markup`<a class="button quiet" href="${call.link("/alerts/webhooks/new")}">Add a webhook</a>` : null;
  const empty = "No alerts yet.";
  return {
    title: "Alerts",
    lead: "Warns people by mail, and Slack, Teams, PagerDuty or programs by webhook, before a limit or the credit is spent. Limits count settled charges; a request also reserves its maximum cost, so it may be refused a little earlier.",
    actions: create,
    main: markup`${may ? null : markup`<p class="hint">Only admins change alerts. Your role is ${roleName(call.workspace.role).toLowerCase()}.</p>`}
      ${channelNotice(rules, webhooks, call)}
      ${section("rules", "Rules", ruleTable(rules, create, call))}
      ${section("webhooks", "Webhooks", markup`${webhookTable(webhooks, add, call)}${webhooks.length === 0 || add === null ? null : markup`<p class="actions">${add}</p>`}`)}
      ${section("sent", "Sent alerts", markup`${alertTable({ rows: sent.data, canReplay: webhooks.length > 0, empty }, call)}${further(sent, before, call)}`)}`,
  };
}

/** What does not carry alerts at the moment; null: all that the rules name does. */
function channelNotice(rules: readonly AlertRuleView[], webhooks: readonly AlertWebhookView[], { parts }: PageCall): Html | null {
  if (parts.control.sendsMail) return null;
  const carried = rules.filter((rule) => rule.webhooks).length;
  const rest =
    webhooks.length === 0
      ? "Add a webhook, so that alerts reach someone now."
      : rules.length > carried
        ? `${rules.length - carried} of ${rules.length} rules name no webhook.`
        : "Webhooks need none.";
  const words = `No mail server is set up, so mails wait until there is one. ${rest}`;
  return notice({ tone: webhooks.length === 0 || rules.length > carried ? "warn" : "neutral", words });
}

function further({ data, next }: AlertList, before: string | null, call: PageCall): Html | null {
  return cursorLinks({
    shown: `${data.length} ${data.length === 1 ? "alert" : "alerts"}`,
    firstPath: before === null ? null : call.path,
    nextPath: next === null ? null : `${call.path}?before=${next}`,
  });
}

function ruleTable(rows: readonly AlertRuleView[], create: Html | null, call: PageCall): Html {
  const may = manages(call);
  const about = (rule: AlertRuleView): Html => {
    const title = kindTitle(rule.kind);
    return markup`${may ? markup`<a href="${call.link(`/alerts/rules/${rule.id}`)}">${title}</a>` : title}${onlyOf(rule, call)}`;
  };
  const columns: Column<AlertRuleView>[] = [
    { label: "About", kind: "text", cell: about },
    { label: "Threshold", kind: "text", cell: ruleThreshold },
    { label: "Sent by", kind: "text", cell: channelsOf },
    { label: "Since", kind: "time", cell: ({ created_at: at }) => time(at) },
  ];
  const remove = (rule: AlertRuleView): Html =>
    actionButton({
      action: call.path,
      label: "Delete",
      what: `${kindTitle(rule.kind)}${rule.only === null ? "" : ` ${rule.only}`}`,
      hidden: hiddenFields(call, "delete-rule", { rule: rule.id }),
    });
  if (may) columns.push({ label: "Actions", kind: "actions", cell: remove });
  const empty = emptyState("Admins get mail only about a refused provider key and a failed top-up.", create);
  return table<AlertRuleView>({ caption: "Alert rules", columns, rows, empty });
}

/** The only key or member that a rule watches, with its page. */
function onlyOf({ kind, only }: AlertRuleView, call: PageCall): Html | null {
  if (only === null) return null;
  const path = call.link(watchedBy(kind) === "key" ? `/keys/${only}` : `/members/${encodeURIComponent(only)}`);
  return markup`<span class="under">only <a href="${path}">${userText(only)}</a></span>`;
}

function webhookTable(rows: readonly AlertWebhookView[], add: Html | null, call: PageCall): Html {
  const name = ({ id, name: given, url }: AlertWebhookView): Html => {
    const words = userText(given === "" ? url : given);
    const under = given === "" ? null : markup`<span class="under">${userText(url)}</span>`;
    return markup`${manages(call) ? markup`<a href="${call.link(`/alerts/webhooks/${id}`)}">${words}</a>` : words}${under}`;
  };
  const test = ({ id, name: given, url }: AlertWebhookView): Html =>
    actionButton({
      action: call.link(`/alerts/webhooks/${id}`),
      label: "Send a test",
      what: `to ${given === "" ? url : given}`,
      hidden: hiddenFields(call, "test"),
    });
  const columns: Column<AlertWebhookView>[] = [
    { label: "Webhook", kind: "text", cell: name },
    { label: "Gets", kind: "text", cell: ({ format }) => formatWords(format) },
    { label: "Old secret valid until", kind: "time", cell: ({ former_secret_until: at }) => (at === null ? null : time(at)) },
    { label: "Since", kind: "time", cell: ({ created_at: at }) => time(at) },
  ];
  if (manages(call)) columns.push({ label: "Actions", kind: "actions", cell: test });
  return table<AlertWebhookView>({ caption: "Webhooks", columns, rows, empty: emptyState("No webhooks yet.", add) });
}

/** What a webhook of a format gets, in a few words. */
export function formatWords(format: AlertWebhookView["format"]): string {
  return format === "weir" ? "signed JSON" : `messages for ${webhookFormats[format].title}`;
}

async function deleteRule(call: PageCall, typed: FormFields): Promise<ActionResult> {
  await call.control(alertRuleEndpoints.delete, { id: typed.text("rule") });
  return { goTo: call.path, said: "The rule is deleted. Its alerts stay listed." };
}

// The list of alerts, with the outcome of each at its webhooks.

interface AlertTable {
  rows: readonly AlertView[];
  /** Whether there is a webhook to send them to again. */
  canReplay: boolean;
  /** Whether it is shown on a webhook's page. */
  ofWebhook?: boolean;
  empty: string;
}

export function alertTable({ rows, canReplay, ofWebhook = false, empty }: AlertTable, call: PageCall): Html {
  const delivery = (alert: AlertView): Html | null => {
    const worst = worstDelivery(alert);
    return worst && deliveryState(worst);
  };
  const again = ({ id }: AlertView): Html =>
    actionButton({ action: call.path, label: "Send again", what: id, hidden: hiddenFields(call, "replay", { alert: id }) });
  const columns: Column<AlertView>[] = [
    { label: "Alert", kind: "text", cell: ({ text }) => userText(text) },
    { label: "About", kind: "text", cell: ({ kind }) => kindTitle(kind) },
    ...(ofWebhook ? [] : [{ label: "Mails", kind: "number", cell: ({ mails }: AlertView) => String(mails) } as const]),
    { label: ofWebhook ? "Delivery" : "Webhooks", kind: "badge", cell: delivery },
    { label: "Time", kind: "time", cell: ({ created_at: at }) => time(at) },
  ];
  if (manages(call) && canReplay) columns.push({ label: "Actions", kind: "actions", cell: again });
  return table<AlertView>({ caption: "Alerts", columns, rows, empty: emptyState(markup`${empty}`, null) });
}

/** @param input names the webhook if only one should get it again */
export async function replay(call: PageCall, typed: FormFields, input: { webhook?: string } = {}): Promise<ActionResult> {
  await call.control(alertEndpoints.replay, { id: typed.text("alert"), ...input });
  return { goTo: call.path, said: "The alert is sent again, with the same id." };
}

/** Whether the viewer may change rules and webhooks, and send an alert again. */
function manages({ workspace: { role } }: PageCall): boolean {
  return role === "operator" || managers.includes(role);
}

// Rules and deliveries in words

/** What a rule waits for. */
function ruleThreshold({ kind, percents, balance_usd: amount, armed }: AlertRuleView): Html {
  if (alertKinds[kind].tells === "limit") return markup`${percents.join(" %, ")} %`;
  if (amount === null) return markup`${alertKinds[kind].tells === "schedule" ? "on schedule" : "each time"}`;
  return markup`below ${money(amount)}${armed ? null : markup` <span class="under">sent; another follows after the balance was a quarter above</span>`}`;
}

function channelsOf({ mail, webhooks }: AlertRuleView): string {
  return [mail ? "mail" : "", webhooks ? "webhooks" : ""].filter((word) => word !== "").join(", ");
}

const failures: Record<string, string> = {
  timeout: "no answer within 10 seconds",
  unreachable: "no connection, or no valid certificate",
  private_address: "its host is in a private network",
  answer_too_large: "its answer was too large",
  secret_unavailable: "the service cannot open its secret",
  queue_full: "not sent: too many waited",
};

/** The state of a delivery, and how the webhook answered last. */
function deliveryState({ state, status, failure, attempts, next_at: next }: AlertDeliveryView): Html {
  const answer = status === null ? (failure === null ? null : (failures[failure] ?? failure)) : `answered ${status}`;
  const tries = attempts > 1 ? `${attempts} tries` : null;
  const under = [answer, tries].filter((words) => words !== null).join(", ");
  const again = next === null || attempts === 0 ? null : markup`, again ${time(next)}`;
  return markup`${stateBadge(state)}${under === "" ? null : markup` <span class="under">${under}${again}</span>`}`;
}

function stateBadge(state: AlertDeliveryView["state"]): Html {
  if (state === "delivered") return badge("good", "delivered");
  return state === "waiting" ? badge("warn", "waiting") : badge("bad", "given up");
}

/** The delivery in the worst state. */
function worstDelivery({ deliveries }: AlertView): AlertDeliveryView | null {
  const order = ["given_up", "waiting", "delivered"];
  return deliveries.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))[0] ?? null;
}
