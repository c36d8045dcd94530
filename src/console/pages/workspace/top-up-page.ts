/**
 * One payment by card, as it is at Stripe at this moment; the payer comes back here. The operator refunds it, at most what the workspace
 * can still spend.
 */
import { topUpEndpoints } from "../../../control-api/endpoints/credit.ts";
import type { TopUpView } from "../../../gateway/top-ups/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FormFields } from "../../form.ts";
import { topUpFormMs } from "../../limits.ts";
import { form } from "../../look/forms.ts";
import { facts, badge, emptyState, section } from "../../look/parts.ts";
import { table } from "../../look/table.ts";
import { money, time, userText } from "../../look/values.ts";
import { formState, hiddenFields, signInFirst } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { payLink, failureWords, stateWords, topUpState } from "./payment.ts";

export const topUpPage: Page = {
  of: "workspace",
  path: "/top-ups/:id",
  navigation: null,
  roles: ["auditor", "admin", "super_admin"],
  deadlineMs: topUpFormMs,
  render,
  actions: { refund },
};

async function render(call: PageCall): Promise<PageContent> {
  const topUp = await call.control(topUpEndpoints.show, { id: call.params["id"] ?? "" });
  const { role } = call.workspace;
  const pays = topUp.url !== null && role !== "auditor" ? payLink(topUp, call) : null;
  const refunds = topUp.refunds.length === 0 ? null : section("refunds", "Refunds", refundTable(topUp));
  return {
    title: "Payment by card",
    trail: [{ path: call.link("/top-ups"), label: "Credit by card" }],
    badge: topUpState(topUp),
    lead: stateWords(topUp),
    main: markup`${pays}${topUpFacts(topUp)}${refunds}${role === "operator" && topUp.state === "credited" ? refundSection(topUp, call) : null}`,
  };
}

function topUpFacts(topUp: TopUpView): Html {
  const { refunded_usd: refunded, disputed_usd: disputed, failure, retry_at: retryAt, payment_intent: intent } = topUp;
  return facts([
    ["Amount", money(topUp.amount_usd)],
    ["Credited", money(topUp.received_usd)],
    ...only(/[1-9]/.test(refunded), "Refunded", money(refunded)),
    ...only(/[1-9]/.test(disputed), "Disputed", money(disputed)),
    ...only(failure !== null, "Failure", failureWords(failure ?? "")),
    ...only(retryAt !== null, "Tried again", time(retryAt)),
    ["Started by", topUp.kind === "automatic" ? "automatic top-up" : userText(topUp.made_by)],
    ["Started", time(topUp.created_at)],
    ["Ended", topUp.ended_at === null ? null : time(topUp.ended_at)],
    ["At Stripe", intent === null ? null : markup`<code>${intent}</code>`],
    ["Id", markup`<code>${topUp.id}</code>`],
  ]);
}

/** A line that is left out unless `shown`. */
function only(shown: boolean, name: string, value: Html | string): [string, Html | string][] {
  return shown ? [[name, value]] : [];
}

type Refund = TopUpView["refunds"][number];

const refundTones = { pending: "warn", succeeded: "good", failed: "bad" } as const;

function refundTable({ refunds }: TopUpView): Html {
  return table<Refund>({
    caption: "Refunds",
    columns: [
      { label: "Time", kind: "time", cell: ({ at }) => time(at) },
      { label: "Amount", kind: "money", cell: ({ usd }) => money(usd) },
      { label: "State", kind: "badge", cell: ({ state }) => badge(refundTones[state], state) },
      { label: "By", kind: "text", cell: ({ made_by: by }) => userText(by) },
    ],
    rows: refunds,
    empty: emptyState("No refund yet.", null),
  });
}

function refundSection({ amount_usd: amount }: TopUpView, call: PageCall): Html {
  const words = markup`<p class="warning">A refund cannot be undone: it takes the amount out of the workspace’s credit, and gives it back to the card. At most the credit that is left can be refunded.</p>`;
  const body = form({
    id: "refund",
    action: call.path,
    hidden: hiddenFields(call, "refund"),
    fields: [{ kind: "money", name: "usd", label: "Amount in USD", required: true }],
    state: formState(call, { action: "refund", values: { usd: amount.replace(/0{1,7}$/, "") } }),
    submit: "Refund",
    tone: "bad",
  });
  return section("refund", "Refund", markup`${words}${signInFirst(call, "refund a payment") ?? body}`);
}

async function refund(call: PageCall, sent: FormFields): Promise<ActionResult> {
  await call.control(topUpEndpoints.refund, { id: call.params["id"] ?? "", usd: sent.text("usd") });
  return { goTo: call.path, said: "The credit is taken back, and the card gets the refund." };
}
