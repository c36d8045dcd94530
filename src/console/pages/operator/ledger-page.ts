/**
 * Checks the stored money, invariant by invariant. A script shows each as soon as it is checked; without one the page waits for all of
 * them. It repairs nothing.
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
    lead: "Adds up every charge, credit and balance, and checks each chain of entries, while the service keeps running. A million requests take some ten seconds.",
    main: markup`<div data-verifies="/api/console/ledger/verify">${action}</div><div data-verified>${result === null ? null : shown(result)}</div>`,
  };
}

function shown({ ok, checked, broken }: Verification): Html {
  const words = ok ? "Every invariant holds." : `The invariant ${broken?.invariant ?? ""} does not hold: ${broken?.detail ?? ""}`;
  return markup`${notice({ tone: ok ? "good" : "bad", words })}${table({
    caption: "What was checked",
    columns: [
      { label: "Invariant", kind: "text", cell: ({ invariant }) => markup`<code>${invariant}</code>` },
      { label: "Rows", kind: "number", cell: ({ rows }) => rows.toLocaleString("en-US") },
      {
        label: "Result",
        kind: "badge",
        cell: ({ invariant }) => (invariant === broken?.invariant ? badge("bad", "broken") : badge("good", "holds")),
      },
    ],
    rows: checked,
    empty: markup``,
  })}`;
}

async function verify(call: PageCall): Promise<ActionResult> {
  return { show: content(call, await call.control(ledgerEndpoints.verify)) };
}
