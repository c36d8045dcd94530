import { ofWorkspace } from "../../flags.ts";
import { text, usdAboveZero } from "../../value.ts";
import type { Verb } from "../../verb.ts";

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
