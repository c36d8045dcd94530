import type { Verb } from "./verb.ts";

export const ledgerVerbs: readonly Verb[] = [
  {
    noun: "ledger",
    verb: "verify",
    summary: "Check the stored money over one snapshot; exit code 1 when it is broken",
    method: "GET",
    path: "/ledger/verify",
    flags: [],
    columns: ["ok", "broken"],
    progress: ({ invariant, rows }) => `${String(invariant)}: ${String(rows)} rows`,
  },
];
