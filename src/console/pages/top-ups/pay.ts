/** Topping up by card: the form with the amount, and the way to Stripe's page. */
import type { TopUpView } from "../../../gateway/top-ups/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FormFields } from "../../form.ts";
import { form } from "../../look/forms/form.ts";
import { money } from "../../look/money.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, PageCall } from "../../page.ts";
import { signInFirst } from "../../recent-sign-in.ts";

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
    submit: "Go on to Stripe",
  });
  return markup`${test}${fields}`;
}

/** A form may lead to no other site, so that the way there is a link. */
export function payLink({ url }: TopUpView, call: PageCall): Html {
  if (url === null) return markup`<p>Its page is closed. Start again.</p>`;
  return markup`<div class="form-end"><a class="button" href="${url}" rel="noreferrer">Pay at Stripe</a><a class="button quiet" href="${call.link("/top-ups")}">Later</a></div>`;
}

export async function startPayment(call: PageCall, sent: FormFields): Promise<ActionResult> {
  const topUp = await call.control<TopUpView>("POST", "/top-ups", { usd: sent.text("usd") });
  return {
    show: {
      title: "Pay at Stripe",
      trail: [{ path: call.link("/top-ups"), label: "Credit by card" }],
      lead: markup`${money(topUp.amount_usd)}. Stripe takes the card and saves it for automatic top-ups; this service never sees its number. The page is open for half an hour.`,
      main: payLink(topUp, call),
    },
  };
}
