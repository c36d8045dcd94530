/** What a top-up's state says: its tone, its word, and what happens next. */
import type { TopUpView } from "../../../gateway/top-ups/schema.ts";
import type { Html } from "../../../http/html.ts";
import { badge, type Tone } from "../../look/badge.ts";

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
