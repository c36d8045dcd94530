/**
 * Setting an alert: the choice of its kind, a form with that kind's fields alone, and the same form to change a rule. Each kind has its own
 * address, so that no script has to show and hide fields. The form shows who gets the alert, what carries it at the moment, and what it
 * will say, in words of the functions that write the real ones.
 */
import { alertKindNames, alertKinds, isAlertKind, watchedBy, type AlertKind } from "../../../accounts/alerts/kinds.ts";
import type { AlertRuleView } from "../../../accounts/alerts/schema.ts";
import { exampleText } from "../../../accounts/alerts/words.ts";
import { managers } from "../../../accounts/audit/actor.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { alertPercentsMax, emailCharactersMax } from "../../../accounts/limits.ts";
import { asTyped, type GivenTo } from "../../../control-api/endpoint.ts";
import { alertRuleEndpoints, alertWebhookEndpoints } from "../../../control-api/endpoints/alerts.ts";
import { keyEndpoints } from "../../../control-api/endpoints/keys.ts";
import { memberEndpoints } from "../../../control-api/endpoints/members.ts";
import { markup, type Html } from "../../../http/html.ts";
import { monthOf } from "../../../kernel/clock.ts";
import { parseUsd } from "../../../kernel/money.ts";
import { form, type Choice, type Field } from "../../look/forms.ts";
import { section, typedUsd, userText } from "../../look/parts.ts";
import { choiceList } from "../../look/steps.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, FormFields, Page, PageCall, PageContent } from "../../page.ts";

const forAdmins = { of: "workspace", navigation: null, roles: ["admin", "super_admin"] } as const;

// The choice of a kind

export const newAlertPage: Page = {
  ...forAdmins,
  path: "/alerts/new",
  async render(call) {
    const choice = (kind: AlertKind) => ({
      path: call.link(`/alerts/new/${kind}`),
      label: alertKinds[kind].title,
      words: alertKinds[kind].when,
    });
    const ofKind = (...tells: string[]) =>
      choiceList(alertKindNames.filter((kind) => tells.includes(alertKinds[kind].tells)).map(choice));
    return {
      title: "Set an alert",
      lead: "What is it about?",
      trail: [trailOf(call)],
      main: markup`${section("limits", "Limits", ofKind("limit"))}
        ${section("credit", "Credit", ofKind("balance"))}
        ${section("events", "Events", ofKind("event", "chosen"))}${section("reports", "Reports", ofKind("schedule"))}`,
    };
  },
};

const trailOf = (call: PageCall) => ({ path: call.link("/alerts"), label: "Alerts" });

// A new rule of one kind

export const newAlertRulePage: Page = {
  ...forAdmins,
  path: "/alerts/new/:kind",
  render: renderNewRule,
  actions: { create },
};

/** @throws DomainError not_found */
function kindOf(call: PageCall): AlertKind {
  const kind = call.params["kind"] ?? "";
  if (isAlertKind(kind)) return kind;
  throw new DomainError("not_found", "There is no such kind of alert");
}

async function renderNewRule(call: PageCall): Promise<PageContent> {
  const kind = kindOf(call);
  const values = { percents: "50, 80, 100", only: call.query.get("only") ?? "", mail: "true", webhooks: "true" };
  const fields = await fieldsOf(kind, values.only, call);
  return {
    title: alertKinds[kind].title,
    lead: alertKinds[kind].when,
    trail: [trailOf(call), { path: call.link("/alerts/new"), label: "Set an alert" }],
    main: markup`${form({
      id: "alert",
      action: call.path,
      hidden: hiddenFields(call, "create"),
      fields,
      state: formState(call, { action: "create", values }),
      submit: "Set it",
      cancelPath: call.link("/alerts/new"),
    })}${preview(kind, call, values)}`,
  };
}

async function create(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const kind = kindOf(call);
  await call.control(alertRuleEndpoints.create, { kind, ...editIn(kind, typed, () => true) });
  const soon = "If a threshold is already passed, its alert comes within a minute.";
  return { goTo: call.link("/alerts"), said: `The alert is set. ${alertKinds[kind].tells === "limit" ? soon : ""}`.trim() };
}

// Changing a rule

export const alertRulePage: Page = {
  ...forAdmins,
  path: "/alerts/rules/:id",
  render: renderRule,
  actions: { edit },
};

/** @throws DomainError not_found */
async function findRule(call: PageCall): Promise<AlertRuleView> {
  const { data } = await call.control(alertRuleEndpoints.list);
  const rule = data.find(({ id }) => id === call.params["id"]);
  if (rule) return rule;
  throw new DomainError("not_found", "There is no such alert in this workspace: it may have been deleted");
}

async function renderRule(call: PageCall): Promise<PageContent> {
  const rule = await findRule(call);
  const { kind } = rule;
  const values = {
    percents: rule.percents.join(", "),
    only: rule.only ?? "",
    balance_usd: typedUsd(rule.balance_usd),
    mail: rule.mail ? "true" : "",
    webhooks: rule.webhooks ? "true" : "",
  };
  const shown = Object.fromEntries(Object.entries(values).map(([name, value]) => [shownName(name), value]));
  return {
    title: alertKinds[kind].title,
    lead: alertKinds[kind].when,
    trail: [trailOf(call)],
    main: markup`${form({
      id: "alert",
      action: call.path,
      hidden: hiddenFields(call, "edit", shown),
      fields: await fieldsOf(kind, values.only, call),
      state: formState(call, { action: "edit", values }),
      submit: "Save",
      cancelPath: call.link("/alerts"),
    })}${preview(kind, call, values)}`,
  };
}

/** Names the hidden field with the value that the form showed, so that two people do not undo each other's changes. */
function shownName(name: string): string {
  return `was.${name}`;
}

async function edit(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const { id, kind } = await findRule(call);
  const changed = editIn(kind, typed, (name) => typed.text(name) !== typed.text(shownName(name)));
  if (Object.keys(changed).length === 0) return { goTo: call.link("/alerts"), said: "Nothing was changed." };
  await call.control(alertRuleEndpoints.edit, { id, ...changed });
  return { goTo: call.link("/alerts"), said: "The alert is changed." };
}

// The fields of a kind

type Edit = Omit<GivenTo<typeof alertRuleEndpoints.edit>, "id" | "workspace">;

/** @param only the key or member that is chosen; empty: all */
async function fieldsOf(kind: AlertKind, only: string, call: PageCall): Promise<Field[]> {
  const { tells } = alertKinds[kind];
  const of = watchedBy(kind);
  const mail: Field = { kind: "check", name: "mail", label: "Mail", hint: await mailHint(kind, call) };
  const webhooks: Field = { kind: "check", name: "webhooks", label: "Webhooks", hint: await webhookHint(call) };
  return [
    ...(of === null ? [] : [await onlyField(of, only, call)]),
    ...(tells === "limit" ? [percentsField] : []),
    ...(tells === "balance" ? [balanceField] : []),
    // Admins get mails of an event in any case.
    ...(tells === "event" ? [] : [mail]),
    webhooks,
  ];
}

const percentsField: Field = {
  kind: "text",
  name: "percents",
  label: "Thresholds in percent",
  hint: `Whole numbers from 1 to 100, at most ${alertPercentsMax}. Requests reserve their maximum cost, so some are refused before 100 %.`,
  charactersMax: 40,
  required: true,
};

const balanceField: Field = {
  kind: "money",
  name: "balance_usd",
  label: "Amount in USD",
  hint: "Such as 25.00. At zero, requests are refused.",
  required: true,
};

/** More are named by their id or address, since a list of thousands helps no one. */
const choicesMax = 100;

async function onlyField(of: "key" | "member", only: string, call: PageCall): Promise<Field> {
  const active = of === "key" ? await keyChoices(call) : await memberChoices(call);
  // A key that was revoked stays chosen until someone chooses another.
  const isGone = only !== "" && !active.some(({ value }) => value === only);
  const choices = isGone ? [...active, { value: only, label: `${only} (no longer active)` }] : active;
  const [name, all] = of === "key" ? ["Key", "All keys with a limit"] : ["Member", "All members with a limit"];
  if (choices.length <= choicesMax) {
    return { kind: "choice", name: "only", label: name, choices: [{ value: "", label: all }, ...choices], required: true };
  }
  const hint = `${of === "key" ? "The id of a key" : "The address of a member"}. Empty: ${all.toLowerCase()}.`;
  return { kind: "text", name: "only", label: `Only this ${of}`, hint, charactersMax: emailCharactersMax };
}

async function keyChoices(call: PageCall): Promise<Choice[]> {
  const { data } = await call.control(keyEndpoints.list, { limit: String(choicesMax + 1) });
  return data.map(({ id, name, owner }) => ({ value: id, label: `${name} (${owner})` }));
}

async function memberChoices(call: PageCall): Promise<Choice[]> {
  const { data } = await call.control(memberEndpoints.list, { limit: String(choicesMax + 1) });
  return data.filter(({ state }) => state === "active").map(({ email }) => ({ value: email, label: email }));
}

const adminsNamedMax = 3;

async function mailHint(kind: AlertKind, call: PageCall): Promise<string> {
  const { data } = await call.control(memberEndpoints.list);
  const admins = data.filter(({ role, state }) => managers.includes(role) && state === "active").map(({ email }) => email);
  const named = admins.slice(0, adminsNamedMax).join(", ");
  const more = admins.length > adminsNamedMax ? ` and ${admins.length - adminsNamedMax} more` : "";
  const to = admins.length === 0 ? "To the admins, of whom there are none yet" : `To the admins: ${named}${more}`;
  const waits = call.parts.control.sendsMail ? "" : " No mail server is set up: the mail waits.";
  const of = watchedBy(kind);
  if (kind === "accepted_risk_ended") return `${to}, and to whoever accepted the risk or owns the finding.${waits}`;
  const owner = of === null ? "" : of === "key" ? ", and to the key’s owner" : ", and to the member";
  return `${to}${owner}.${waits}`;
}

async function webhookHint(call: PageCall): Promise<string> {
  const { data } = await call.control(alertWebhookEndpoints.list);
  if (data.length === 0)
    return "To all webhooks of the workspace. There are none yet: add Slack, Teams, PagerDuty or your own program.";
  const names = data.map(({ name, url }) => (name === "" ? new URL(url).host : name));
  return `To all webhooks of the workspace: ${names.join(", ")}.`;
}

/**
 * The kind's own fields among those that count. A value that is not a number stays as typed, and is refused by the field's name.
 */
function editIn(kind: AlertKind, typed: FormFields, counts: (name: string) => boolean): Edit {
  const { tells } = alertKinds[kind];
  return {
    ...(watchedBy(kind) !== null && counts("only") && { only: typed.text("only") === "" ? null : typed.text("only") }),
    ...(tells === "limit" && counts("percents") && { percents: percentsIn(typed) }),
    ...(tells === "balance" && counts("balance_usd") && { balance_usd: balanceIn(typed) }),
    ...(tells !== "event" && counts("mail") && { mail: typed.text("mail") === "true" }),
    ...(counts("webhooks") && { webhooks: typed.text("webhooks") === "true" }),
  };
}

function percentsIn(typed: FormFields): NonNullable<Edit["percents"]> {
  const parts = typed
    .text("percents")
    .split(/[\s,;%]+/)
    .filter((part) => part !== "");
  return parts.map((part) => (/^\d{1,9}$/.test(part) ? Number(part) : asTyped(part)));
}

/** @throws DomainError invalid_field */
function balanceIn(typed: FormFields): NonNullable<Edit["balance_usd"]> {
  const text = typed.text("balance_usd");
  if (text !== "") return text;
  throw new DomainError("invalid_field", "Enter an amount, such as 25.00", { field: "balance_usd" });
}

// What it will say

function preview(
  kind: AlertKind,
  call: PageCall,
  { percents, balance_usd: typed = "" }: { percents: string; balance_usd?: string },
): Html {
  const percent = Number(/\d+/.exec(percents.split(",").at(-2) ?? percents)?.[0] ?? 80);
  const amount = typed === "" ? 25_000_000_000n : parseUsd(typed);
  const text = exampleText(kind, { percent, amount, period: monthOf(call.nowMs) });
  return section(
    "preview",
    "What it says",
    markup`<figure class="preview"><blockquote>${userText(text)}</blockquote>
      <figcaption>An example with made-up numbers. Mails and messages add the workspace, ${userText(call.workspace.name)}.</figcaption></figure>`,
  );
}
