/**
 * Checks the stored money, check by check: the verdict first, then what each check proves. A script shows each result as soon as it is
 * there; without one the page waits for all of them. It repairs nothing.
 */
import { ledgerEndpoints } from "../../../control-api/endpoints/service.ts";
import type { Verification } from "../../../gateway/metering/verify.ts";
import { ledgerStatementMsMax } from "../../../gateway/limits.ts";
import { markup, type Html } from "../../../http/html.ts";
import { asset } from "../../../http/page.ts";
import { badge, notice, table } from "../../look/parts.ts";
import { form, emptyForm } from "../../look/forms.ts";
import { hiddenFields } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";

export const ledgerPage: Page = {
  of: "operator",
  path: "/ledger",
  navigation: { section: "Operator", label: "Ledger", icon: "ledger" },
  roles: [],
  scripts: [asset("script", [new URL("ledger.js", import.meta.url)])],
  deadlineMs: ledgerStatementMsMax,
  render: async (call) => content(call, null),
  actions: { verify },
};

/** What each check of `ledger verify` proves, by its name and in its order. */
export const ledgerChecks: Readonly<Record<string, string>> = {
  gapless_chain: "The entries of each workspace are numbered without a gap",
  running_balance: "Each entry's balance is the one before it plus its amount",
  account_is_chain_head: "Each balance is that of the last entry",
  overdraft_explained: "A balance below zero is explained by refunds and disputes",
  entries_add_up: "Each entry of charges is the sum of its charges",
  charges_sum_to_entries: "All charges together equal the entries of charges",
  workspace_month_totals: "Each month's total of a workspace is the sum of its charges",
  key_month_totals: "Each month's total of a key is the sum of its charges",
  cost_rounded_half_up: "Each charge is the exact cost, rounded once",
  charge_within_reservation: "No charge exceeds what was reserved for it",
  charge_leaves_no_debt: "No charge leaves a balance below zero",
  one_charge_a_key: "A repeated Idempotency-Key is charged once",
  leaving_is_charged: "A client that disconnects pays for what was produced",
  usage_adds_up: "The sums of Spend equal the requests that they sum",
  usage_spans_agree: "The sums of days and hours equal those of their quarters",
  usage_kinds_agree: "The sums by key and by model equal the total",
  usage_counts_agree: "The counts of each error code add up to the errors",
  statement_matches_ledger: "No closed statement has changed, and each continues the one before it",
  budget_totals: "What counts against each limit is the sum of its charges",
};

function content(call: PageCall, result: Verification | null): PageContent {
  const action = form({
    id: "verify",
    action: call.path,
    hidden: hiddenFields(call, "verify"),
    fields: [],
    state: emptyForm,
    submit: "Verify the ledger",
  });
  return {
    title: "Ledger",
    lead: "Adds up every charge, credit and balance while the service keeps running. A million requests take some ten seconds.",
    main: markup`<div data-verdict>${result === null ? null : verdict(result)}</div>
      <div data-verifies="/api/console/ledger/verify">${action}</div>
      <h2>Checks</h2>
      <div data-verified>${checkTable(result)}</div>`,
  };
}

function verdict({ ok, broken }: Verification): Html {
  const words = ok
    ? "The ledger is correct: all checks passed."
    : `The ledger is not correct. ${checkWords(broken?.invariant ?? "")}: this does not hold. ${broken?.detail ?? ""}`;
  return notice({ tone: ok ? "good" : "bad", words });
}

/** A check that this page does not know has only its name. */
function checkWords(name: string): string {
  return new Map(Object.entries(ledgerChecks)).get(name) ?? name;
}

interface CheckRow {
  name: string;
  rows: number | null;
}

/** The script finds a row by its name. */
function checkTable(result: Verification | null): Html {
  const checked = new Map(result?.checked.map(({ invariant, rows }): [string, number] => [invariant, rows]));
  const names = new Set([...Object.keys(ledgerChecks), ...checked.keys()]);
  const state = ({ name, rows }: CheckRow): Html => {
    if (name === result?.broken?.invariant) return badge("bad", "broken");
    return rows === null ? badge("neutral", "not checked") : badge("good", "passed");
  };
  return table<CheckRow>({
    caption: "Checks",
    columns: [
      { label: "Check", kind: "text", cell: ({ name }) => checkWords(name) },
      { label: "Result", kind: "badge", cell: state },
      { label: "Rows", kind: "number", cell: ({ rows }) => rows?.toLocaleString("en-US") ?? null },
      { label: "Name", kind: "text", cell: ({ name }) => markup`<code>${name}</code>` },
    ],
    rows: Array.from(names, (name) => ({ name, rows: checked.get(name) ?? null })),
    empty: markup``,
  });
}

async function verify(call: PageCall): Promise<ActionResult> {
  return { show: content(call, await call.control(ledgerEndpoints.verify)) };
}
