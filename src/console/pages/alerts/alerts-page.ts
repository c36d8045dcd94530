/** What a workspace wants to be told of, who gets it, and what was told. */
import type { AlertList, AlertRuleDeleted, AlertRuleView } from "../../../accounts/alerts/schema.ts";
import type { AlertWebhookView } from "../../../accounts/alerts/webhooks.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FormFields } from "../../form.ts";
import { cursorLinks } from "../../look/cursor-links.ts";
import { actionButton } from "../../look/forms/form.ts";
import { emptyState } from "../../look/states.ts";
import { table, type Column } from "../../look/table.ts";
import { time } from "../../look/time.ts";
import { userText } from "../../look/user-text.ts";
import { hiddenFields } from "../../page-forms.ts";
import { pageSection } from "../../page-section.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { roleName } from "../../role-name.ts";
import { alertTable, replay } from "./alert-table.ts";
import { manages, ruleThreshold, ruleTitle, toldBy } from "./alert-words.ts";

export const alertsPage: Page = {
  of: "workspace",
  path: "/alerts",
  navigation: { section: "Workspace", label: "Alerts", icon: "alerts" },
  roles: ["auditor", "admin", "super_admin"],
  render,
  actions: { "delete-rule": deleteRule, replay },
};

async function render(call: PageCall): Promise<PageContent> {
  const { data: rules } = await call.control<{ data: AlertRuleView[] }>("GET", "/alert-rules");
  const { data: webhooks } = await call.control<{ data: AlertWebhookView[] }>("GET", "/alert-webhooks");
  const before = call.query.get("before");
  const told = await call.control<AlertList>("GET", "/alerts", before === null ? {} : { before });
  const may = manages(call);
  const create = may ? markup`<a class="button" href="${call.link("/alerts/new")}">Set an alert</a>` : null;
  const add = may ? markup`<a class="button quiet" href="${call.link("/alerts/webhooks/new")}">Add a webhook</a>` : null;
  const empty = "Nothing was told yet.";
  return {
    title: "Alerts",
    lead: "Tells admins by mail, and programs by webhook, before a limit or the credit is spent. Limits count settled charges; a request also reserves its maximum cost, and so may be refused a little before.",
    actions: create,
    main: markup`${may ? null : markup`<p class="hint">Only admins change alerts. Your role is ${roleName(call.workspace.role).toLowerCase()}.</p>`}
      ${pageSection("rules", "Rules", ruleTable(rules, create, call))}
      ${pageSection("webhooks", "Webhooks", markup`${webhookTable(webhooks, add, call)}${webhooks.length === 0 || add === null ? null : markup`<p class="actions">${add}</p>`}`)}
      ${pageSection("told", "What was told", markup`${alertTable({ rows: told.data, canReplay: webhooks.length > 0, empty }, call)}${further(told, before, call)}`)}`,
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
    { label: "Told by", kind: "text", cell: toldBy },
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
  const empty = emptyState("Only a refused provider key and a failed top-up are told, to admins by mail.", create);
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
  await call.control<AlertRuleDeleted>("DELETE", `/alert-rules/${encodeURIComponent(typed.text("rule"))}`);
  return { goTo: call.path, said: "The rule is deleted. What it told stays listed." };
}
