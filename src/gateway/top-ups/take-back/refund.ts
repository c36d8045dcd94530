/** Refunds: the credit is taken back first, then the card gets the money; if that fails, the credit returns. */
import { signatureOf, type Actor } from "../../../accounts/audit/actor.ts";
import { changedFields } from "../../../accounts/audit/changes.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { authorize, operatorOnly } from "../../../accounts/workspaces/authorize.ts";
import { newRefundId, type WorkspaceId } from "../../../kernel/ids.ts";
import { formatUsd, type NanoUsd } from "../../../kernel/money.ts";
import { bookMovement } from "../../credit/credit.ts";
import { parseBetween, ofCents, wholeCents } from "../amounts.ts";
import { changeTopUp, refreshed, type Locked } from "../change-top-up.ts";
import type { RefundParts } from "../parts.ts";
import { refundReference } from "../references.ts";
import { insertRefund, type RefundRow } from "../refunds-store.ts";
import type { RefundForm, TopUpView } from "../schema.ts";
import { sendRefund } from "./send-refund.ts";
import { findTopUp, noTopUp, showTopUp } from "../show.ts";
import { selectBalance, updateTopUp } from "../store.ts";

/**
 * Refunds a part of a top-up, at most what is left of it and what the workspace can still spend.
 * @throws DomainError forbidden except for the operator; not_found; invalid_field; conflict; unavailable where the counters cannot tell
 * what open requests hold
 */
export async function refundTopUp(
  { actor, workspace, id, form }: { actor: Actor; workspace: WorkspaceId; id: string; form: RefundForm },
  parts: RefundParts,
): Promise<TopUpView> {
  authorize(actor, { roles: operatorOnly, action: "refund a top-up" });
  await findTopUp({ id, workspace }, parts.sql);
  const held = await parts.held(workspace);
  if (held === null) throw new DomainError("unavailable", "Cannot refund: what open requests hold is not known; try again");
  const refund = await changeTopUp({ id, workspace, actor }, parts, (locked) => takeBack({ actor, form, held }, locked));
  if (refund === null) throw noTopUp(id);
  await refreshed(workspace, parts);
  await sendRefund(refund, parts).catch((error: unknown) =>
    parts.log.warn({ event: "top_up.refund_waits", refund: refund.id, reason: String(error) }, "A refund is sent again later"),
  );
  return showTopUp({ id, workspace }, parts.sql);
}

async function takeBack({ actor, form, held }: { actor: Actor; form: RefundForm; held: NanoUsd }, { tx, topUp, now }: Locked) {
  const { workspace, id } = topUp;
  const left = topUp.received - topUp.refunded - topUp.disputed;
  const { balance = 0n } = (await selectBalance(workspace, tx)) ?? {};
  const available = wholeCents(balance - held);
  if (left <= 0n) throw new DomainError("conflict", `Cannot refund ${id}: nothing is left of it`, { field: "usd" });
  const amount = form.usd === undefined ? left : parseBetween({ field: "usd", text: form.usd, min: ofCents(1), max: left });
  if (amount > available) {
    const message = `Cannot refund ${formatUsd(amount)} USD: the workspace can still spend ${formatUsd(available)} USD`;
    throw new DomainError("conflict", message, { field: "usd" });
  }
  const { actor: madeBy } = signatureOf(actor);
  const refund: RefundRow = {
    id: newRefundId(now.getTime()),
    topUp: id,
    amount,
    state: "pending",
    refund: null,
    madeBy,
    createdAt: now,
  };
  await bookMovement({ workspace, kind: "refund", amount: -amount, reference: refundReference(refund.id) }, tx);
  await insertRefund(refund, tx);
  await updateTopUp({ ...topUp, refunded: topUp.refunded + amount }, tx);
  const changes = changedFields({ before: {}, after: { usd: formatUsd(amount), refund: refund.id } });
  return { result: refund, events: [{ event: "top_up.refunded", workspace, target: id, changes }] };
}
