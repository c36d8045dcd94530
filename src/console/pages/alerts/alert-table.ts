/** A list of alerts: what was told, when, and what became of it. */
import { kindTitle } from "../../../accounts/alerts/kinds.ts";
import type { AlertView } from "../../../accounts/alerts/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { actionButton } from "../../look/forms/form.ts";
import { emptyState } from "../../look/states.ts";
import { table, type Column } from "../../look/table.ts";
import { time } from "../../look/time.ts";
import { userText } from "../../look/user-text.ts";
import { hiddenFields } from "../../page-forms.ts";
import type { ActionResult, PageCall } from "../../page.ts";
import type { FormFields } from "../../form.ts";
import { deliveryState, manages, worstDelivery } from "./alert-words.ts";

interface AlertTable {
  rows: readonly AlertView[];
  /** Whether there is a webhook to send them to again. */
  canReplay: boolean;
  /** On the page of one webhook. */
  ofWebhook?: boolean;
  empty: string;
}

export function alertTable({ rows, canReplay, ofWebhook = false, empty }: AlertTable, call: PageCall): Html {
  const delivery = (alert: AlertView): Html | null => {
    const worst = worstDelivery(alert);
    return worst && deliveryState(worst);
  };
  const again = ({ id }: AlertView): Html =>
    actionButton({ action: call.path, label: "Send again", what: id, hidden: hiddenFields(call, "replay", { alert: id }) });
  const columns: Column<AlertView>[] = [
    { label: "Alert", kind: "text", cell: ({ text }) => userText(text) },
    { label: "About", kind: "text", cell: ({ kind }) => kindTitle(kind) },
    ...(ofWebhook ? [] : [{ label: "Mails", kind: "number", cell: ({ mails }: AlertView) => String(mails) } as const]),
    { label: ofWebhook ? "Delivery" : "Webhooks", kind: "badge", cell: delivery },
    { label: "Time", kind: "time", cell: ({ created_at: at }) => time(at) },
  ];
  if (manages(call) && canReplay) columns.push({ label: "Actions", kind: "actions", cell: again });
  return table<AlertView>({ caption: "Alerts", columns, rows, empty: emptyState(markup`${empty}`, null) });
}

/** @param input names the webhook, where only one should get it again */
export async function replay(call: PageCall, typed: FormFields, input: { webhook?: string } = {}): Promise<ActionResult> {
  await call.control<AlertView>("POST", `/alerts/${encodeURIComponent(typed.text("alert"))}/replay`, input);
  return { goTo: call.path, said: "The alert is sent again, with the same id." };
}
