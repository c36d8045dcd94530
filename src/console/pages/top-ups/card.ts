/** The saved card and automatic top-up in words. */
import type { TopUpSettingsView } from "../../../gateway/top-ups/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { badge } from "../../look/badge.ts";
import { facts } from "../../look/facts.ts";
import { money } from "../../look/money.ts";
import { userText } from "../../look/user-text.ts";
import type { PageCall } from "../../page.ts";
import { pageSection } from "../../page-section.ts";

export function cardWords({ card }: TopUpSettingsView): Html | string {
  if (card === null) return "none; the first payment saves one";
  return markup`${userText(card.brand.charAt(0).toUpperCase() + card.brand.slice(1))} ending in <code>${card.last_four}</code>, until ${card.expires}`;
}

export function automaticState({ enabled, paused }: TopUpSettingsView): Html {
  if (!enabled) return badge("neutral", "off");
  return paused ? badge("warn", "paused") : badge("good", "on");
}

/** @returns null: the service takes cards */
export function reasonAgainstCards({ offered }: TopUpSettingsView): string | null {
  return offered ? null : "This service takes no cards: the operator has not set a key of Stripe. The operator adds credit.";
}

export function automaticFacts(settings: TopUpSettingsView): Html {
  return facts([
    ["Saved card", cardWords(settings)],
    ["Automatic top-up", automaticState(settings)],
    ["When available credit is below", money(settings.threshold_usd, "not set")],
    ["Charges", money(settings.amount_usd, "not set")],
    ["At most in a month (UTC)", money(settings.monthly_cap_usd, "not set")],
    ["Charged automatically this month", money(settings.month_usd)],
  ]);
}

/** On the page of settings, for the roles that may see it. */
export async function topUpSection(call: PageCall): Promise<Html | null> {
  if (!call.offers("/top-ups")) return null;
  const settings = await call.control<TopUpSettingsView>("GET", "/top-up-settings");
  const reason = reasonAgainstCards(settings);
  const body =
    reason === null
      ? markup`${automaticFacts(settings)}<div class="form-end"><a class="button quiet" href="${call.link("/top-ups")}">Top up by card, and change this</a></div>`
      : markup`<p class="hint">${reason}</p>`;
  return pageSection("top-up", "Credit by card", body);
}
