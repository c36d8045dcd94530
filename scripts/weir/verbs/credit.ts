import { text, usdAboveZero, id, onOff, rows, usd, yes } from "../value.ts";
import { ofWorkspace, type Verb, withId, workspace } from "../verb.ts";

export const creditVerbs: readonly Verb[] = [
  {
    noun: "credit",
    verb: "add",
    summary: "Add credit; the same reference adds once",
    method: "POST",
    path: "/credit",
    flags: [
      ofWorkspace,
      { name: "usd", field: "usd", value: usdAboveZero, required: true, help: "how much" },
      { name: "ref", field: "ref", value: text, required: true, help: "reference of the payment, such as an invoice number" },
    ],
  },
  { noun: "credit", verb: "show", summary: "Show a workspace's credit", method: "GET", path: "/credit", flags: [ofWorkspace] },
];

const theTopUp = withId("id of the top-up");

const columns = ["id", "kind", "state", "amount_usd", "received_usd", "refunded_usd", "disputed_usd", "failure", "created_at"];

export const topUpVerbs: readonly Verb[] = [
  {
    noun: "top-up",
    verb: "create",
    summary: "Open a page of Stripe, at the url of the answer, on which a person pays for credit by card",
    method: "POST",
    path: "/top-ups",
    flags: [
      ofWorkspace,
      { name: "usd", field: "usd", value: usdAboveZero, required: true, help: "how much, from 5 to 2,500 USD" },
    ],
    columns: ["id", "state", "amount_usd", "url"],
  },
  {
    noun: "top-up",
    verb: "list",
    summary: "List card top-ups, newest first",
    method: "GET",
    path: "/top-ups",
    flags: [
      ofWorkspace,
      { name: "limit", field: "limit", value: rows, help: "at most so many; 100 by default" },
      { name: "before", field: "before", value: id, help: "only those older than this one" },
    ],
    columns,
  },
  {
    noun: "top-up",
    verb: "show",
    summary: "Show a card top-up; one under way is looked up at Stripe first",
    method: "GET",
    path: "/top-ups/:id",
    flags: [theTopUp, workspace],
  },
  {
    noun: "top-up",
    verb: "refund",
    summary: "Refund a card top-up, at most what the workspace can still spend",
    method: "POST",
    path: "/top-ups/:id/refund",
    flags: [
      theTopUp,
      workspace,
      { name: "usd", field: "usd", value: usdAboveZero, help: "how much; all that is left if absent" },
    ],
    confirm: "It takes the amount out of the workspace's credit and gives it back to the card.",
  },
  {
    noun: "top-up",
    verb: "settings",
    summary: "Show the saved card and automatic top-up",
    method: "GET",
    path: "/top-up-settings",
    flags: [ofWorkspace],
  },
  {
    noun: "top-up",
    verb: "set",
    summary: "Change automatic top-up, or forget the saved card",
    method: "PATCH",
    path: "/top-up-settings",
    flags: [
      ofWorkspace,
      { name: "enabled", field: "enabled", value: onOff, help: "whether the card is charged when credit falls short" },
      { name: "threshold-usd", field: "threshold_usd", value: usd, help: "the available credit below which it is charged" },
      { name: "amount-usd", field: "amount_usd", value: usd, help: "what is charged each time, from 5 to 2,500 USD" },
      { name: "monthly-cap-usd", field: "monthly_cap_usd", value: usd, help: "the most that is charged in a month (UTC)" },
      { name: "remove-card", field: "remove_card", value: yes, help: "forget the saved card" },
    ],
  },
];
