/**
 * The rules of a workspace's alerts, the webhooks that get them, the alerts that were sent, and the form of a rule. The form shows the
 * fields of all kinds; only those that the chosen kind takes are sent.
 */
import { alertKindNames, isLimitKind, kindTitle } from "../../../accounts/alerts/kinds.ts";
import type { AlertList, AlertRuleView } from "../../../accounts/alerts/schema.ts";
import type { AlertWebhookView } from "../../../accounts/alerts/webhooks.ts";
import { asTyped, type GivenTo } from "../../../control-api/endpoint.ts";
import { alertEndpoints, alertRuleEndpoints, alertWebhookEndpoints } from "../../../control-api/endpoints/alerts.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FormFields } from "../../form.ts";
import { actionButton, form, type Field } from "../../look/forms.ts";
import { emptyState, section } from "../../look/parts.ts";
import { cursorLinks, table, type Column } from "../../look/table.ts";
import { time, userText } from "../../look/values.ts";
import { hiddenFields, formState } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { roleName } from "../../viewer.ts";
import { alertTable, replay, manages, ruleThreshold, ruleTitle, toldBy } from "./alert-table.ts";

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
  const told = await call.control(alertEndpoints.list, before === null ? {} : { before });
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
      ${section("told", "Sent alerts", markup`${alertTable({ rows: told.data, canReplay: webhooks.length > 0, empty }, call)}${further(told, before, call)}`)}`,
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
    { label: "Sent by", kind: "text", cell: toldBy },
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
  return table<AlertRuleView>({ caption: "Rules of alerts", columns, rows, empty });
}

function webhookTable(rows: readonly AlertWebhookView[], add: Html | null, call: PageCall): Html {
  const address = ({ id, url }: AlertWebhookView): Html =>
    manages(call) ? markup`<a href="${call.link(`/alerts/webhooks/${id}`)}">${userText(url)}</a>` : markup`${userText(url)}`;
  return table<AlertWebhookView>({
    caption: "Webhooks",
    columns: [
      { label: "Address", kind: "text", cell: address },
      {
        label: "Former secret signs until",
        kind: "time",
        cell: ({ former_secret_until: at }) => (at === null ? null : time(at)),
      },
      { label: "Since", kind: "time", cell: ({ created_at: at }) => time(at) },
    ],
    rows,
    empty: emptyState("No program gets the alerts.", add),
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

/** Only what the kind takes: the form shows the fields of all kinds. What is not a number stays as it was typed, and is refused by name. */
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
