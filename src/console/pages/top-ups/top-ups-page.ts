/** Credit by card: paying, the saved card, automatic top-up and the list of payments. */
import { managers } from "../../../accounts/workspaces/authorize.ts";
import type { WorkspaceView } from "../../../accounts/workspaces/schema.ts";
import type { TopUpSettingsView, TopUpView } from "../../../gateway/top-ups/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { topUpFormMs } from "../../limits.ts";
import { cursorLinks } from "../../look/cursor-links.ts";
import { address } from "../../look/forms/address.ts";
import { money } from "../../look/money.ts";
import { emptyState } from "../../look/states.ts";
import { table } from "../../look/table.ts";
import { time } from "../../look/time.ts";
import { userText } from "../../look/user-text.ts";
import { pageSection } from "../../page-section.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { roleName } from "../../role-name.ts";
import { automaticForm, forgetCard, saveAutomatic, savedCard } from "./automatic-form.ts";
import { automaticFacts, automaticState, reasonAgainstCards } from "./card.ts";
import { payForm, startPayment } from "./pay.ts";
import { failureWords, topUpState } from "./state.ts";

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
  const settings = await call.control<TopUpSettingsView>("GET", "/top-up-settings");
  const workspace = await call.control<WorkspaceView>("GET", `/workspaces/${call.workspace.id}`);
  const page = { limit: String(rowsOfPage), ...(before !== "" && { before }) };
  const { data } = await call.control<{ data: TopUpView[] }>("GET", "/top-ups", page);
  return {
    title: "Credit by card",
    trail: [{ path: call.link("/settings"), label: "Settings" }],
    lead: markup`Credit left: ${money(workspace.available_usd ?? workspace.balance_usd)}.`,
    main: markup`${paying(settings, call)}${pageSection("payments", "Payments", markup`${payments(data, call)}${further(data, { call, before })}`)}`,
  };
}

function paying(settings: TopUpSettingsView, call: PageCall): Html {
  const reason = reasonAgainstCards(settings);
  if (reason !== null) return markup`<p class="hint">${reason}</p>`;
  const { role } = call.workspace;
  if (role !== "operator" && !managers.includes(role)) {
    const words = `Only admins top up. Your role is ${roleName(role).toLowerCase()}.`;
    return markup`<p class="hint">${words}</p>${pageSection("automatic", "Automatic top-up", automaticFacts(settings))}`;
  }
  const state = markup`<p>${automaticState(settings)} Charged automatically this month: ${money(settings.month_usd)}.</p>`;
  const paused = settings.paused
    ? markup`<p class="hint">The bank of the card wants a person to authenticate a payment: pay it below, or top up by card.</p>`
    : null;
  const automatic =
    settings.card === null
      ? markup`<p class="hint">Automatic top-up needs a saved card: the first payment saves one.</p>`
      : automaticForm(settings, call);
  return markup`${pageSection("top-up", "Top up", payForm(call, settings))}${pageSection("automatic-top-up", "Automatic top-up", markup`${state}${paused}${automatic}`)}${savedCard(settings, call)}`;
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
