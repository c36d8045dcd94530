/** One workspace as the operator sees it: its credit, and the form that adds some. */
import type { WorkspaceView } from "../../../accounts/workspaces/schema.ts";
import { markup } from "../../../http/html.ts";
import { isoTime } from "../../../kernel/clock.ts";
import type { FormFields } from "../../form.ts";
import { badge } from "../../look/badge.ts";
import { facts } from "../../look/facts.ts";
import { form } from "../../look/forms/form.ts";
import { money } from "../../look/money.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { workspacePath } from "../../redirect.ts";
import { monthName } from "../spend/month-name.ts";
import { trail } from "./workspaces-page.ts";

export const operatorWorkspacePage: Page = {
  of: "operator",
  path: "/workspaces/:id",
  navigation: null,
  roles: [],
  render,
  actions: { credit: addCredit },
};

async function render(call: PageCall): Promise<PageContent> {
  const id = call.params["id"] ?? "";
  const view = await call.control<WorkspaceView>("GET", `/workspaces/${encodeURIComponent(id)}`);
  const pages = workspacePath(view.name);
  return {
    title: view.name,
    trail: trail(call),
    badge: view.enabled ? badge("good", "on") : badge("neutral", "off"),
    main: markup`${facts([
      ["Id", markup`<code>${view.id}</code>`],
      ["Balance", money(view.balance_usd)],
      ["Reserved by current requests", money(view.reserved_usd, "unknown")],
      ["Available", money(view.available_usd, "unknown")],
      [`Spent in ${monthName(view.month)}`, money(view.month_spent_usd)],
      ["Spend limit", money(view.spend_limit_usd)],
      [
        "Pages",
        markup`<a href="${pages}/keys">Keys</a>, <a href="${pages}/members">members</a>, <a href="${pages}/settings">settings</a>`,
      ],
    ])}
    <section aria-labelledby="credit-title"><h2 id="credit-title">Add credit</h2>${creditForm(call)}</section>`,
  };
}

function creditForm(call: PageCall) {
  const reference = `console ${isoTime(call.nowMs)}`;
  return form({
    id: "credit",
    action: call.path,
    hidden: hiddenFields(call, "credit"),
    fields: [
      { kind: "money", name: "usd", label: "Amount in USD", required: true },
      {
        kind: "text",
        name: "ref",
        label: "Reference",
        hint: "Such as the number of an invoice. One reference adds once, however often it is sent.",
        required: true,
        charactersMax: 200,
      },
    ],
    state: formState(call, { action: "credit", values: { ref: reference } }),
    submit: "Add credit",
  });
}

async function addCredit(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const sent = { workspace: call.params["id"] ?? "", usd: typed.text("usd"), ref: typed.text("ref") };
  const { balance_usd: balance } = await call.control<{ balance_usd: string }>("POST", "/credit", sent);
  return { goTo: call.path, said: `The balance is now ${balance} USD.` };
}
