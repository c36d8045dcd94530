/**
 * Topping up by card: the saved card and automatic top-up in words, the form with the amount, the way to Stripe's page, and what each state
 * of a payment says. The Console never sees a card; Stripe does.
 */
import { topUpEndpoints } from "../../../control-api/endpoints/credit.ts";
import type { TopUpSettingsView, TopUpView } from "../../../gateway/top-ups/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { formState, hiddenFields, signInFirst } from "../../page-forms.ts";
import type { FormFields, PageCall, ActionResult } from "../../page.ts";
import { form } from "../../look/forms.ts";
import { badge, facts, section, type Tone, money, userText } from "../../look/parts.ts";

export function cardWords({ card }: TopUpSettingsView): Html | string {
  if (card === null) return "none; the first payment saves one";
  return markup`${userText(card.brand.charAt(0).toUpperCase() + card.brand.slice(1))} ending in <code>${card.last_four}</code>, until ${card.expires}`;
}

export function automaticState({ enabled, paused }: TopUpSettingsView): Html {
  if (!enabled) return badge("neutral", "off");
  return paused ? badge("warn", "paused") : badge("good", "on");
}

/** @returns why the workspace cannot pay by card; null: it can */
export function reasonAgainstCards({ offered }: TopUpSettingsView): string | null {
  return offered ? null : "This service accepts no cards: the operator has not set a Stripe key. The operator adds credit.";
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

/** The section of the settings page, for the roles that may see it. */
export async function topUpSection(call: PageCall): Promise<Html | null> {
  if (!call.offers("/top-ups")) return null;
  const settings = await call.control(topUpEndpoints.showSettings);
  const reason = reasonAgainstCards(settings);
  const body =
    reason === null
      ? markup`${automaticFacts(settings)}<div class="form-end"><a class="button quiet" href="${call.link("/top-ups")}">Top up by card, and change this</a></div>`
      : markup`<p class="hint">${reason}</p>`;
  return section("top-up", "Credit by card", body);
}

// Topping up by card: the form with the amount, and the way to Stripe's page.

export function payForm(call: PageCall, { live }: { live: boolean }): Html {
  const first = signInFirst(call, "top up by card");
  if (first !== null) return first;
  const test = live ? null : markup`<p class="hint">Stripe’s test mode: no money moves, and its test cards work.</p>`;
  const fields = form({
    id: "pay",
    action: call.link("/top-ups"),
    hidden: hiddenFields(call, "create"),
    fields: [
      {
        kind: "money",
        name: "usd",
        label: "Amount in USD",
        hint: "From 5 to 2,500 USD. It becomes credit without a fee.",
        required: true,
      },
    ],
    state: formState(call, { action: "create", values: { usd: "20" } }),
    submit: "Continue to Stripe",
  });
  return markup`${test}${fields}`;
}

/** A form may not lead to another site, so a link leads there. */
export function payLink({ url }: TopUpView, call: PageCall): Html {
  if (url === null) return markup`<p>Its page is closed. Start again.</p>`;
  return markup`<div class="form-end"><a class="button" href="${url}" rel="noreferrer">Pay at Stripe</a><a class="button quiet" href="${call.link("/top-ups")}">Later</a></div>`;
}

export async function startPayment(call: PageCall, sent: FormFields): Promise<ActionResult> {
  const topUp = await call.control(topUpEndpoints.create, { usd: sent.text("usd") });
  return {
    show: {
      title: "Pay at Stripe",
      trail: [{ path: call.link("/top-ups"), label: "Credit by card" }],
      lead: markup`${money(topUp.amount_usd)}. Stripe takes the card and saves it for automatic top-ups; this service never sees its number. The page is open for half an hour.`,
      main: payLink(topUp, call),
    },
  };
}

// What a top-up's state says: its tone, its word, and what happens next.

const states: Record<TopUpView["state"], { tone: Tone; word: string; words: string }> = {
  created: { tone: "neutral", word: "started", words: "Stripe has not answered yet." },
  open: { tone: "warn", word: "to be paid", words: "Stripe’s page waits for the payment." },
  confirming: { tone: "neutral", word: "charging", words: "The saved card is being charged." },
  processing: { tone: "neutral", word: "processing", words: "The bank has not decided yet." },
  action_required: {
    tone: "warn",
    word: "needs you",
    words: "The bank of the card wants a person to authenticate this payment. Until then automatic top-up pauses.",
  },
  paid: { tone: "bad", word: "paid", words: "It is paid and not credited: ask the operator." },
  credited: { tone: "good", word: "credited", words: "It is part of the credit." },
  failed: { tone: "bad", word: "declined", words: "The payment was declined, and nothing was charged." },
  expired: { tone: "neutral", word: "left", words: "Stripe’s page was left, and nothing was charged." },
  canceled: { tone: "neutral", word: "canceled", words: "It was canceled, and nothing was charged." },
};

export function topUpState({ state, retry_at: retryAt }: TopUpView): Html {
  const { tone, word } = states[state];
  return retryAt === null ? badge(tone, word) : badge("warn", "declined, tried again");
}

export function stateWords({ state, retry_at: retryAt }: TopUpView): string {
  return retryAt === null ? states[state].words : "The payment was declined. The same card is tried again.";
}

/** `do_not_honor` becomes `do not honor`. */
export function failureWords(code: string): string {
  return code.replaceAll("_", " ");
}
