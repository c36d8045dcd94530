/**
 * Credit by card: paying, the saved card, automatic top-up and the list of payments. Where the operator has set no key of Stripe the page
 * says so.
 */
import { managers } from "../../../accounts/workspaces/authorize.ts";
import { topUpEndpoints } from "../../../control-api/endpoints/credit.ts";
import { workspaceEndpoints } from "../../../control-api/endpoints/workspaces.ts";
import type { TopUpSettingsView, TopUpView } from "../../../gateway/top-ups/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FormFields } from "../../form.ts";
import { topUpFormMs } from "../../limits.ts";
import { address, actionButton, form } from "../../look/forms.ts";
import { emptyState, section } from "../../look/parts.ts";
import { cursorLinks, table } from "../../look/table.ts";
import { money, time, userText } from "../../look/values.ts";
import { formState, hiddenFields, signInFirst } from "../../page-forms.ts";
import type { Page, PageCall, PageContent, ActionResult } from "../../page.ts";
import { roleName } from "../../viewer.ts";
import {
  automaticFacts,
  automaticState,
  reasonAgainstCards,
  cardWords,
  payForm,
  startPayment,
  failureWords,
  topUpState,
} from "./payment.ts";

export const topUpsPage: Page = {
  of: "workspace",
  path: "/top-ups",
  navigation: null,
  roles: ["auditor", "admin", "super_admin"],
  deadlineMs: topUpFormMs,
  render,
  actions: { create: startPayment, automatic: saveAutomatic, "remove-card": forgetCard },
};

const rowsOfPage = 50;

async function render(call: PageCall): Promise<PageContent> {
  const before = call.query.get("before") ?? "";
  const settings = await call.control(topUpEndpoints.showSettings);
  const workspace = await call.control(workspaceEndpoints.show, { id: call.workspace.id });
  const page = { limit: String(rowsOfPage), ...(before !== "" && { before }) };
  const { data } = await call.control(topUpEndpoints.list, page);
  return {
    title: "Credit by card",
    trail: [{ path: call.link("/settings"), label: "Settings" }],
    lead: markup`Credit left: ${money(workspace.available_usd ?? workspace.balance_usd)}.`,
    main: markup`${paying(settings, call)}${section("payments", "Payments", markup`${payments(data, call)}${further(data, { call, before })}`)}`,
  };
}

function paying(settings: TopUpSettingsView, call: PageCall): Html {
  const reason = reasonAgainstCards(settings);
  if (reason !== null) return markup`<p class="hint">${reason}</p>`;
  const { role } = call.workspace;
  if (role !== "operator" && !managers.includes(role)) {
    const words = `Only admins top up. Your role is ${roleName(role).toLowerCase()}.`;
    return markup`<p class="hint">${words}</p>${section("automatic", "Automatic top-up", automaticFacts(settings))}`;
  }
  const state = markup`<p>${automaticState(settings)} Charged automatically this month: ${money(settings.month_usd)}.</p>`;
  const paused = settings.paused
    ? markup`<p class="hint">The bank of the card wants a person to authenticate a payment: pay it below, or top up by card.</p>`
    : null;
  const automatic =
    settings.card === null
      ? markup`<p class="hint">Automatic top-up needs a saved card: the first payment saves one.</p>`
      : automaticForm(settings, call);
  return markup`${section("top-up", "Top up", payForm(call, settings))}${section("automatic-top-up", "Automatic top-up", markup`${state}${paused}${automatic}`)}${savedCard(settings, call)}`;
}

function payments(rows: readonly TopUpView[], call: PageCall): Html {
  const link = ({ id, created_at: at }: TopUpView): Html => markup`<a href="${call.link(`/top-ups/${id}`)}">${time(at)}</a>`;
  return table<TopUpView>({
    caption: "Payments by card",
    columns: [
      { label: "Started", kind: "time", cell: link },
      { label: "By", kind: "text", cell: ({ kind, made_by: by }) => (kind === "automatic" ? "automatic" : userText(by)) },
      { label: "Amount", kind: "money", cell: ({ amount_usd: amount }) => money(amount) },
      { label: "State", kind: "badge", cell: topUpState },
      { label: "Failure", kind: "text", cell: ({ failure }) => (failure === null ? null : failureWords(failure)) },
      { label: "Taken back", kind: "money", cell: takenBack },
    ],
    rows,
    empty: emptyState("No payment by card yet.", null),
  });
}

function takenBack({ refunded_usd: refunded, disputed_usd: disputed }: TopUpView): Html | null {
  if (!/[1-9]/.test(refunded + disputed)) return null;
  const words = /[1-9]/.test(disputed) ? markup`${money(disputed)} <span class="under">disputed</span>` : null;
  return markup`${/[1-9]/.test(refunded) ? money(refunded) : null}${words}`;
}

function further(rows: readonly TopUpView[], { call, before }: { call: PageCall; before: string }): Html | null {
  const last = rows.length === rowsOfPage ? rows.at(-1)?.id : undefined;
  return cursorLinks({
    shown: `${rows.length} payments`,
    firstPath: before === "" ? null : call.path,
    nextPath: last === undefined ? null : address(call.path, { before: last }),
  });
}

// The form of automatic top-up.

/** Cents and no further zeros. */
function typed(amount: string | null): string {
  return amount === null ? "" : amount.replace(/0{1,7}$/, "");
}

function automaticForm(settings: TopUpSettingsView, call: PageCall): Html {
  const first = signInFirst(call, "change automatic top-up");
  if (first !== null) return first;
  const values = {
    enabled: settings.enabled ? "true" : "",
    threshold_usd: typed(settings.threshold_usd),
    amount_usd: typed(settings.amount_usd),
    monthly_cap_usd: typed(settings.monthly_cap_usd),
  };
  return form({
    id: "automatic",
    action: call.path,
    hidden: hiddenFields(call, "automatic"),
    fields: [
      {
        kind: "check",
        name: "enabled",
        label: "Top up automatically",
        hint: "On: the saved card is charged when the available credit is below the threshold; at once if it is below it now. No request waits for it.",
      },
      { kind: "money", name: "threshold_usd", label: "Threshold in USD", hint: "From 5 to 10,000 USD.", required: true },
      {
        kind: "money",
        name: "amount_usd",
        label: "Amount of each top-up in USD",
        hint: "What is charged each time, from 5 to 2,500 USD.",
        required: true,
      },
      {
        kind: "money",
        name: "monthly_cap_usd",
        label: "Monthly cap in USD",
        hint: "The most that is charged automatically in a calendar month (UTC).",
        required: true,
      },
    ],
    state: formState(call, { action: "automatic", values }),
    submit: "Save",
  });
}

/** The card that payments saved, and how to have it forgotten. */
function savedCard(settings: TopUpSettingsView, call: PageCall): Html | null {
  if (settings.card === null) return null;
  const first = signInFirst(call, "have the card forgotten");
  const forget = actionButton({ action: call.path, label: "Forget the card", hidden: hiddenFields(call, "remove-card") });
  const words = markup`<p>${cardWords(settings)}. Forgetting it switches automatic top-up off.</p>`;
  return section("saved-card", "Saved card", markup`${words}${first ?? forget}`);
}

async function saveAutomatic(call: PageCall, sent: FormFields): Promise<ActionResult> {
  const { enabled } = await call.control(topUpEndpoints.editSettings, {
    enabled: sent.text("enabled") === "true",
    threshold_usd: sent.text("threshold_usd"),
    amount_usd: sent.text("amount_usd"),
    monthly_cap_usd: sent.text("monthly_cap_usd"),
  });
  return { goTo: call.path, said: enabled ? "Automatic top-up is on." : "Automatic top-up is off." };
}

async function forgetCard(call: PageCall): Promise<ActionResult> {
  await call.control(topUpEndpoints.editSettings, { remove_card: true });
  return { goTo: call.path, said: "The card is forgotten, and automatic top-up is off." };
}
