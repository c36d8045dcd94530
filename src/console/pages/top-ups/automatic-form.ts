/** The form of automatic top-up. */
import type { TopUpSettingsView } from "../../../gateway/top-ups/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FormFields } from "../../form.ts";
import { actionButton, form } from "../../look/forms/form.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, PageCall } from "../../page.ts";
import { cardWords } from "./card.ts";
import { pageSection } from "../../page-section.ts";
import { signInFirst } from "../../recent-sign-in.ts";

/** Cents and no further zeros. */
function typed(amount: string | null): string {
  return amount === null ? "" : amount.replace(/0{1,7}$/, "");
}

export function automaticForm(settings: TopUpSettingsView, call: PageCall): Html {
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
export function savedCard(settings: TopUpSettingsView, call: PageCall): Html | null {
  if (settings.card === null) return null;
  const first = signInFirst(call, "have the card forgotten");
  const forget = actionButton({ action: call.path, label: "Forget the card", hidden: hiddenFields(call, "remove-card") });
  const words = markup`<p>${cardWords(settings)}. Forgetting it switches automatic top-up off.</p>`;
  return pageSection("saved-card", "Saved card", markup`${words}${first ?? forget}`);
}

export async function saveAutomatic(call: PageCall, sent: FormFields): Promise<ActionResult> {
  const amounts = ["threshold_usd", "amount_usd", "monthly_cap_usd"].map((name) => [name, sent.text(name)]);
  const edit = { enabled: sent.text("enabled") === "true", ...Object.fromEntries(amounts) };
  const { enabled } = await call.control<TopUpSettingsView>("PATCH", "/top-up-settings", edit);
  return { goTo: call.path, said: enabled ? "Automatic top-up is on." : "Automatic top-up is off." };
}

export async function forgetCard(call: PageCall): Promise<ActionResult> {
  await call.control<TopUpSettingsView>("PATCH", "/top-up-settings", { remove_card: true });
  return { goTo: call.path, said: "The card is forgotten, and automatic top-up is off." };
}
