/**
 * Credit by card: paying, the saved card, automatic top-up, the list of payments, and one payment with its current state at Stripe, to
 * which the payer returns. The operator can refund at most what the workspace can still spend. If the operator has set no Stripe key, the
 * page says so.
 */
import { managers } from "../../../accounts/audit/actor.ts";
import { topUpEndpoints } from "../../../control-api/endpoints/credit.ts";
import { workspaceEndpoints } from "../../../control-api/endpoints/workspaces.ts";
import type { TopUpSettingsView, TopUpView } from "../../../gateway/top-ups/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { topUpFormMs } from "../../limits.ts";
import { address, actionButton, form } from "../../look/forms.ts";
import { emptyState, section, cursorLinks, table, money, time, userText, badge } from "../../look/parts.ts";
import { idToCopy, thingPage } from "../../look/thing.ts";
import { actDialog, formState, hiddenFields, signInFirst } from "../../page-forms.ts";
import type { FormFields, Page, PageCall, PageContent, ActionResult } from "../../page.ts";
import { roleName } from "../../viewer.ts";
import * as payment from "./payment.ts";

export const topUpsPage: Page = {
  of: "workspace",
  path: "/top-ups",
  navigation: null,
  roles: ["auditor", "admin", "super_admin"],
  deadlineMs: topUpFormMs,
  render,
  actions: { create: payment.startPayment, automatic: saveAutomatic, "remove-card": forgetCard },
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
  const reason = payment.reasonAgainstCards(settings);
  if (reason !== null) return markup`<p class="hint">${reason}</p>`;
  const { role } = call.workspace;
  if (role !== "operator" && !managers.includes(role)) {
    const words = `Only admins top up. Your role is ${roleName(role).toLowerCase()}.`;
    return markup`<p class="hint">${words}</p>${section("automatic", "Automatic top-up", payment.automaticFacts(settings))}`;
  }
  const state = markup`<p>${payment.automaticState(settings)} Charged automatically this month: ${money(settings.month_usd)}.</p>`;
  const paused = settings.paused
    ? markup`<p class="hint">The bank of the card wants a person to authenticate a payment: pay it below, or top up by card.</p>`
    : null;
  const automatic =
    settings.card === null
      ? markup`<p class="hint">Automatic top-up needs a saved card: the first payment saves one.</p>`
      : automaticForm(settings, call);
  return markup`${section("top-up", "Top up", payment.payForm(call, settings))}${section("automatic-top-up", "Automatic top-up", markup`${state}${paused}${automatic}`)}${savedCard(settings, call)}`;
}

function payments(rows: readonly TopUpView[], call: PageCall): Html {
  const link = ({ id, created_at: at }: TopUpView): Html => markup`<a href="${call.link(`/top-ups/${id}`)}">${time(at)}</a>`;
  return table<TopUpView>({
    caption: "Payments by card",
    columns: [
      { label: "Started", kind: "time", cell: link },
      { label: "By", kind: "text", cell: ({ kind, made_by: by }) => (kind === "automatic" ? "automatic" : userText(by)) },
      { label: "Amount", kind: "money", cell: ({ amount_usd: amount }) => money(amount) },
      { label: "State", kind: "badge", cell: payment.topUpState },
      { label: "Failure", kind: "text", cell: ({ failure }) => (failure === null ? null : payment.failureWords(failure)) },
      { label: "Taken back", kind: "money", cell: takenBack },
    ],
    rows,
    empty: emptyState("No card payments yet.", null),
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

/** An amount to the cent, without further zeros. */
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

/** The card that payments saved, and how to remove it. */
function savedCard(settings: TopUpSettingsView, call: PageCall): Html | null {
  if (settings.card === null) return null;
  const first = signInFirst(call, "have the card forgotten");
  const forget = actionButton({ action: call.path, label: "Forget the card", hidden: hiddenFields(call, "remove-card") });
  const words = markup`<p>${payment.cardWords(settings)}. Forgetting it switches automatic top-up off.</p>`;
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

// One payment.

export const topUpPage: Page = {
  of: "workspace",
  path: "/top-ups/:id",
  navigation: null,
  roles: ["auditor", "admin", "super_admin"],
  deadlineMs: topUpFormMs,
  render: renderTopUp,
  actions: { refund },
};

async function renderTopUp(call: PageCall): Promise<PageContent> {
  const topUp = await call.control(topUpEndpoints.show, { id: call.params["id"] ?? "" });
  const { role } = call.workspace;
  const pays = topUp.url !== null && role !== "auditor" ? payment.payLink(topUp, call) : null;
  const refunding = role === "operator" && topUp.state === "credited" ? refundDialog(topUp, call) : null;
  return {
    title: "Payment by card",
    trail: [{ path: call.link("/top-ups"), label: "Credit by card" }],
    badge: payment.topUpState(topUp),
    lead: payment.stateWords(topUp),
    actions: refunding?.button ?? null,
    main: markup`${refunding?.dialog ?? null}${pays}
      ${thingPage({ facts: topUpFacts(topUp), main: section("refunds", "Refunds", refundTable(topUp)) })}`,
  };
}

function topUpFacts(topUp: TopUpView): Parameters<typeof thingPage>[0]["facts"] {
  const { refunded_usd: refunded, disputed_usd: disputed, failure, retry_at: retryAt, payment_intent: intent } = topUp;
  return [
    ["Amount", money(topUp.amount_usd)],
    ["Credited", money(topUp.received_usd)],
    ...only(/[1-9]/.test(refunded), "Refunded", money(refunded)),
    ...only(/[1-9]/.test(disputed), "Disputed", money(disputed)),
    ...only(failure !== null, "Failure", payment.failureWords(failure ?? "")),
    ...only(retryAt !== null, "Tried again", time(retryAt)),
    ["Started by", topUp.kind === "automatic" ? "automatic top-up" : userText(topUp.made_by)],
    ["Started", time(topUp.created_at)],
    ["Ended", topUp.ended_at === null ? null : time(topUp.ended_at)],
    ["At Stripe", intent === null ? null : markup`<code>${intent}</code>`],
    ["Id", idToCopy({ id: "top-up-id", value: topUp.id, what: "the id" })],
  ];
}

/** A row that is left out unless `shown`. */
function only(shown: boolean, name: string, value: Html | string): [string, Html | string][] {
  return shown ? [[name, value]] : [];
}

type Refund = TopUpView["refunds"][number];

const refundTones = { pending: "warn", succeeded: "good", failed: "bad" } as const;

function refundTable({ refunds }: TopUpView): Html {
  return table<Refund>({
    caption: "Refunds",
    columns: [
      { label: "Time", kind: "time", cell: ({ at }) => time(at) },
      { label: "Amount", kind: "money", cell: ({ usd }) => money(usd) },
      { label: "State", kind: "badge", cell: ({ state }) => badge(refundTones[state], state) },
      { label: "By", kind: "text", cell: ({ made_by: by }) => userText(by) },
    ],
    rows: refunds,
    empty: emptyState("No refunds yet.", null),
  });
}

function refundDialog({ amount_usd: amount }: TopUpView, call: PageCall) {
  const words = markup`<p class="warning">A refund cannot be undone: it takes the amount out of the workspace’s credit, and gives it back to the card. At most the credit that is left can be refunded.</p>`;
  const body = form({
    id: "refund-payment",
    action: call.path,
    hidden: hiddenFields(call, "refund"),
    fields: [{ kind: "money", name: "usd", label: "Amount in USD", required: true }],
    state: formState(call, { action: "refund", values: { usd: amount.replace(/0{1,7}$/, "") } }),
    submit: "Refund",
    tone: "bad",
    cancelPath: call.path,
  });
  const shown = markup`${words}${signInFirst(call, "refund a payment") ?? body}`;
  return actDialog(call, { action: "refund", label: "Refund", title: "Refund the payment", body: shown });
}

async function refund(call: PageCall, sent: FormFields): Promise<ActionResult> {
  await call.control(topUpEndpoints.refund, { id: call.params["id"] ?? "", usd: sent.text("usd") });
  return { goTo: call.path, said: "The credit is taken back, and the card gets the refund." };
}
