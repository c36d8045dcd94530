/**
 * The rules of a workspace's alerts, the webhooks that get them, the alerts that were sent, and the form of a rule. The form shows the
 * fields of all kinds; only those of the chosen kind are sent. The list of alerts shows the worst delivery of each, and can send it again.
 * A webhook's page shows the same list.
 */
import { alertKindNames, isLimitKind, kindTitle, alertKinds } from "../../../accounts/alerts/kinds.ts";
import type { AlertList, AlertRuleView, AlertView, AlertDeliveryView } from "../../../accounts/alerts/schema.ts";
import type { AlertWebhookView } from "../../../accounts/alerts/webhooks.ts";
import { managers } from "../../../accounts/audit/actor.ts";
import { asTyped, type GivenTo } from "../../../control-api/endpoint.ts";
import { alertEndpoints, alertRuleEndpoints, alertWebhookEndpoints } from "../../../control-api/endpoints/alerts.ts";
import { markup, type Html } from "../../../http/html.ts";
import { actionButton, form, type Field } from "../../look/forms.ts";
import { emptyState, section, cursorLinks, table, type Column, time, userText, badge, money } from "../../look/parts.ts";
import { hiddenFields, formState } from "../../page-forms.ts";
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
    lead: "Warns admins by mail, and programs by webhook, before a limit or the credit is spent. Limits count settled charges; a request also reserves its maximum cost, so it may be refused a little earlier.",
    actions: create,
    main: markup`${may ? null : markup`<p class="hint">Only admins change alerts. Your role is ${roleName(call.workspace.role).toLowerCase()}.</p>`}
      ${section("rules", "Rules", ruleTable(rules, create, call))}
      ${section("webhooks", "Webhooks", markup`${webhookTable(webhooks, add, call)}${webhooks.length === 0 || add === null ? null : markup`<p class="actions">${add}</p>`}`)}
      ${section("sent", "Sent alerts", markup`${alertTable({ rows: sent.data, canReplay: webhooks.length > 0, empty }, call)}${further(sent, before, call)}`)}`,
  };
}

function further({ data, next }: AlertList, before: string | null, call: PageCall): Html | null {
  return cursorLinks({
    shown: `${data.length} ${data.length === 1 ? "alert" : "alerts"}`,
    firstPath: before === null ? null : call.path,
    nextPath: next === null ? null : `${call.path}?before=${next}`,
  });
}

function ruleTable(rows: readonly AlertRuleView[], create: Html | null, call: PageCall): Html {
  const columns: Column<AlertRuleView>[] = [
    { label: "About", kind: "text", cell: ruleTitle },
    { label: "Threshold", kind: "text", cell: ruleThreshold },
    { label: "Sent by", kind: "text", cell: channelsOf },
    { label: "Since", kind: "time", cell: ({ created_at: at }) => time(at) },
  ];
  const remove = (rule: AlertRuleView): Html =>
    actionButton({
      action: call.path,
      label: "Delete",
      what: ruleTitle(rule),
      hidden: hiddenFields(call, "delete-rule", { rule: rule.id }),
    });
  if (manages(call)) columns.push({ label: "Actions", kind: "actions", cell: remove });
  const empty = emptyState("Admins get mail only about a refused provider key and a failed top-up.", create);
  return table<AlertRuleView>({ caption: "Alert rules", columns, rows, empty });
}

function webhookTable(rows: readonly AlertWebhookView[], add: Html | null, call: PageCall): Html {
  const address = ({ id, url }: AlertWebhookView): Html =>
    manages(call) ? markup`<a href="${call.link(`/alerts/webhooks/${id}`)}">${userText(url)}</a>` : markup`${userText(url)}`;
  return table<AlertWebhookView>({
    caption: "Webhooks",
    columns: [
      { label: "Address", kind: "text", cell: address },
      {
        label: "Old secret valid until",
        kind: "time",
        cell: ({ former_secret_until: at }) => (at === null ? null : time(at)),
      },
      { label: "Since", kind: "time", cell: ({ created_at: at }) => time(at) },
    ],
    rows,
    empty: emptyState("No webhooks yet.", add),
  });
}

async function deleteRule(call: PageCall, typed: FormFields): Promise<ActionResult> {
  await call.control(alertRuleEndpoints.delete, { id: typed.text("rule") });
  return { goTo: call.path, said: "The rule is deleted. Its alerts stay listed." };
}

export const newAlertRulePage: Page = {
  of: "workspace",
  path: "/alerts/new",
  navigation: null,
  roles: ["admin", "super_admin"],
  render: renderNewRule,
  actions: { create },
};

const usual = { kind: "key_month", percents: "50, 80, 100", mail: "true", webhooks: "true" };

const fields: readonly Field[] = [
  {
    kind: "choice",
    name: "kind",
    label: "About",
    choices: alertKindNames.map((name) => ({ value: name, label: kindTitle(name) })),
    required: true,
  },
  {
    kind: "text",
    name: "percents",
    label: "Thresholds in percent",
    hint: "For limits: whole numbers from 1 to 100, at most five. Each raises one alert a month.",
    charactersMax: 40,
  },
  {
    kind: "money",
    name: "balance_usd",
    label: "Amount in USD",
    hint: "For the balance. It raises one alert, and another only after the balance was a quarter above the amount.",
  },
  {
    kind: "check",
    name: "mail",
    label: "Mail",
    hint: "To the admins, and to the owner of the key. Refused provider keys and failed top-ups are always mailed to the admins.",
  },
  { kind: "check", name: "webhooks", label: "Webhooks", hint: "To all webhooks of the workspace." },
];

async function renderNewRule(call: PageCall): Promise<PageContent> {
  return {
    title: "Set an alert",
    trail: [{ path: call.link("/alerts"), label: "Alerts" }],
    main: form({
      id: "new-alert",
      action: call.path,
      hidden: hiddenFields(call, "create"),
      fields,
      state: formState(call, { action: "create", values: usual }),
      submit: "Set it",
      cancelPath: call.link("/alerts"),
    }),
  };
}

async function create(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const kind = typed.text("kind");
  await call.control(alertRuleEndpoints.create, {
    kind,
    ...thresholds(kind, typed),
    mail: typed.text("mail") === "true",
    webhooks: typed.text("webhooks") === "true",
  });
  return {
    goTo: call.link("/alerts"),
    said: "The alert is set. If a threshold is already passed, its alert comes within a minute.",
  };
}

/**
 * Only the kind's own fields, since the form shows those of all kinds. A value that is not a number stays as typed, and is refused by the
 * field's name.
 */
function thresholds(
  kind: string,
  typed: FormFields,
): Pick<GivenTo<typeof alertRuleEndpoints.create>, "balance_usd" | "percents"> {
  if (kind === "balance") return { balance_usd: typed.text("balance_usd") };
  const percents = typed.text("percents");
  if (percents === "" || !alertKindNames.some((name) => name === kind && isLimitKind(name))) return {};
  const parts = percents.split(/[\s,;%]+/).filter((part) => part !== "");
  return { percents: parts.map((part) => (/^\d{1,9}$/.test(part) ? Number(part) : asTyped(part))) };
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
  if (amount === null) return markup`each time`;
  return markup`below ${money(amount)}${armed ? null : markup` <span class="under">sent; another follows after the balance was a quarter above</span>`}`;
}

function ruleTitle({ kind }: Pick<AlertRuleView, "kind">): string {
  return kindTitle(kind);
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
