import type { Verb } from "../../verb.ts";

export const ledgerVerbs: readonly Verb[] = [
  {
    noun: "ledger",
    verb: "verify",
    summary: "Check all stored amounts in one snapshot; exit code 1 when they contradict each other",
    method: "GET",
    path: "/ledger/verify",
    flags: [],
    columns: ["ok", "broken"],
    progress: ({ invariant, rows }) => `${String(invariant)}: ${String(rows)} rows`,
  },
];
