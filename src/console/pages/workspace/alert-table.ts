/**
 * What the pages of alerts and of webhooks share: the list of alerts with what became of each at its webhooks, sending one again, and
 * rules and deliveries in words. Of an alert's deliveries the list shows the one that is worst off.
 */
import { kindTitle, alertKinds } from "../../../accounts/alerts/kinds.ts";
import type { AlertView, AlertDeliveryView, AlertRuleView } from "../../../accounts/alerts/schema.ts";
import { managers } from "../../../accounts/workspaces/authorize.ts";
import { alertEndpoints } from "../../../control-api/endpoints/alerts.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FormFields } from "../../form.ts";
import { actionButton } from "../../look/forms.ts";
import { emptyState, badge } from "../../look/parts.ts";
import { table, type Column } from "../../look/table.ts";
import { time, userText, money } from "../../look/values.ts";
import { hiddenFields } from "../../page-forms.ts";
import type { ActionResult, PageCall } from "../../page.ts";

interface AlertTable {
  rows: readonly AlertView[];
  /** Whether there is a webhook to send them to again. */
  canReplay: boolean;
  /** On the page of one webhook. */
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

/** @param input names the webhook, where only one should get it again */
export async function replay(call: PageCall, typed: FormFields, input: { webhook?: string } = {}): Promise<ActionResult> {
  await call.control(alertEndpoints.replay, { id: typed.text("alert"), ...input });
  return { goTo: call.path, said: "The alert is sent again, with the same id." };
}

/** Whether the viewer may change rules and webhooks, and send an alert again. */
export function manages({ workspace: { role } }: PageCall): boolean {
  return role === "operator" || managers.includes(role);
}

// Rules and deliveries in words

/** What a rule waits for. */
export function ruleThreshold({ kind, percents, balance_usd: amount, armed }: AlertRuleView): Html {
  if (alertKinds[kind].tells === "limit") return markup`${percents.join(" %, ")} %`;
  if (amount === null) return markup`each time`;
  return markup`below ${money(amount)}${armed ? null : markup` <span class="under">sent; another follows after the balance was a quarter above</span>`}`;
}

export function ruleTitle({ kind }: Pick<AlertRuleView, "kind">): string {
  return kindTitle(kind);
}

export function toldBy({ mail, webhooks }: AlertRuleView): string {
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

/** The delivery of the webhook that is worst off. */
function worstDelivery({ deliveries }: AlertView): AlertDeliveryView | null {
  const order = ["given_up", "waiting", "delivered"];
  return deliveries.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))[0] ?? null;
}
