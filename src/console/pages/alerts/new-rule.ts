import { alertKindNames, isLimitKind, kindTitle } from "../../../accounts/alerts/kinds.ts";
import type { AlertRuleView } from "../../../accounts/alerts/schema.ts";
import type { FormFields } from "../../form.ts";
import { form } from "../../look/forms/form.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import type { Field } from "../../look/forms/field.ts";

export const newAlertRulePage: Page = {
  of: "workspace",
  path: "/alerts/new",
  navigation: null,
  roles: ["admin", "super_admin"],
  render,
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
    hint: "For limits: whole numbers from 1 to 100, at most five. Each is told once in its month.",
    charactersMax: 40,
  },
  {
    kind: "money",
    name: "balance_usd",
    label: "Amount in USD",
    hint: "For the balance. It is told once, and again only after the balance was a quarter above the amount.",
  },
  {
    kind: "check",
    name: "mail",
    label: "Mail",
    hint: "To the admins, and to the owner of the key. Refused provider keys and failed top-ups are always mailed to the admins.",
  },
  { kind: "check", name: "webhooks", label: "Webhooks", hint: "To all webhooks of the workspace." },
];

async function render(call: PageCall): Promise<PageContent> {
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
  await call.control<AlertRuleView>("POST", "/alert-rules", {
    kind,
    ...thresholds(kind, typed),
    mail: typed.text("mail") === "true",
    webhooks: typed.text("webhooks") === "true",
  });
  return { goTo: call.link("/alerts"), said: "The alert is set. What is past a threshold already is told within a minute." };
}

/** Only what the kind takes: the form shows the fields of all kinds. What is no number stays as it was typed, and is refused by name. */
function thresholds(kind: string, typed: FormFields): Record<string, unknown> {
  if (kind === "balance") return { balance_usd: typed.text("balance_usd") };
  const percents = typed.text("percents");
  if (percents === "" || !alertKindNames.some((name) => name === kind && isLimitKind(name))) return {};
  const parts = percents.split(/[\s,;%]+/).filter((part) => part !== "");
  return { percents: parts.map((part) => (/^\d{1,9}$/.test(part) ? Number(part) : part)) };
}
