/** Rules and deliveries in words. */
import { alertKinds, kindTitle } from "../../../accounts/alerts/kinds.ts";
import type { AlertDeliveryView, AlertRuleView, AlertView } from "../../../accounts/alerts/schema.ts";
import { managers } from "../../../accounts/workspaces/authorize.ts";
import { markup, type Html } from "../../../http/html.ts";
import { badge } from "../../look/badge.ts";
import { money } from "../../look/money.ts";
import { time } from "../../look/time.ts";
import type { PageCall } from "../../page.ts";

export function manages({ workspace: { role } }: PageCall): boolean {
  return role === "operator" || managers.includes(role);
}

/** What a rule waits for. */
export function ruleThreshold({ kind, percents, balance_usd: amount, armed }: AlertRuleView): Html {
  if (alertKinds[kind].tells === "limit") return markup`${percents.join(" %, ")} %`;
  if (amount === null) return markup`each time`;
  return markup`below ${money(amount)}${armed ? null : markup` <span class="under">told; it tells again after the balance was a quarter above</span>`}`;
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
export function deliveryState({ state, status, failure, attempts, next_at: next }: AlertDeliveryView): Html {
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

/** Of all webhooks, the one that is worst off. */
export function worstDelivery({ deliveries }: AlertView): AlertDeliveryView | null {
  const order = ["given_up", "waiting", "delivered"];
  return deliveries.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))[0] ?? null;
}
