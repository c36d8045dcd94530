/**
 * A person's top-up: a page of Stripe takes the card, which is saved for automatic ones. While a page is open, the same amount returns it
 * again, and another amount closes it first, so two clicks make one payment. The row and its key are stored before the page is asked for,
 * so no payment is without a row. change-top-up.ts adds the credit once the payment is known to be made.
 */
import { type Actor, signatureOf, authorize, managers, overseers } from "../../accounts/audit/actor.ts";
import { change, changedFields } from "../../accounts/audit/change.ts";
import { DomainError } from "../../accounts/errors.ts";
import type { Queries } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import { newTopUpId, type WorkspaceId } from "../../kernel/ids.ts";
import { formatUsd, type NanoUsd } from "../../kernel/money.ts";
import { changeTopUp, type TopUpParts } from "./change-top-up.ts";
import { openCheckout, stripeProblem } from "./checkout.ts";
import { checkoutOpenMs } from "./limits.ts";
import { checkTopUp } from "./payments.ts";
import { parseTopUpAmount, type TopUpForm, type TopUpView } from "./schema.ts";
import * as store from "./store.ts";
import { CallRefusedError } from "./stripe-api.ts";

/**
 * Opens a page of Stripe for an amount, or returns the open one.
 * @throws DomainError forbidden except for admins, super admins and the operator; invalid_field; conflict while a payment is being made
 * or where Stripe refuses; unavailable where it does not answer
 */
export async function createTopUp(
  { actor, workspace, form }: { actor: Actor; workspace: WorkspaceId; form: TopUpForm },
  parts: TopUpParts,
): Promise<TopUpView> {
  authorize(actor, { roles: managers, action: "top up by card" });
  const amount = parseTopUpAmount("usd", form.usd);
  try {
    const open = await store.selectPending({ workspace, kind: "manual" }, parts.sql);
    const again = open === undefined ? null : await continued(open, amount, parts);
    const topUp = again ?? (await insert({ actor, workspace, amount, customer: await customerOf(workspace, parts) }, parts));
    return viewTopUp(topUp.state === "created" ? await openCheckout(topUp, parts) : topUp, []);
  } catch (error) {
    throw stripeProblem(error, "open a page for the payment");
  }
}

export function noTopUp(id: string): DomainError {
  return new DomainError("not_found", `There is no top-up with the id "${id}"`, { field: "id" });
}

/** @param workspace null: of any @throws DomainError not_found even for another workspace's, so that existing ones stay hidden */
export async function findTopUp(
  { id, workspace }: { id: string; workspace: WorkspaceId | null },
  sql: Queries,
): Promise<store.TopUpRow> {
  const row = await store.selectTopUp(id, sql);
  if (!row || (workspace !== null && row.workspace !== workspace)) throw noTopUp(id);
  return row;
}

/** @throws DomainError not_found */
export async function showTopUp({ id, workspace }: { id: string; workspace: WorkspaceId }, sql: Queries): Promise<TopUpView> {
  return viewTopUp(await findTopUp({ id, workspace }, sql), await store.selectRefundsOf([id], sql));
}

interface Listing {
  actor: Actor;
  workspace: WorkspaceId;
  before: string | null;
  limit: number;
}

/** Newest first. @throws DomainError forbidden for members, who may not see what the workspace pays */
export async function listTopUps({ actor, ...filter }: Listing, sql: Queries): Promise<TopUpView[]> {
  authorizeToSee(actor);
  const rows = await store.selectTopUps(filter, sql);
  const refunds = await store.selectRefundsOf(
    rows.map(({ id }) => id),
    sql,
  );
  const byTopUp = Map.groupBy(refunds, ({ topUp }) => topUp);
  return rows.map((row) => viewTopUp(row, byTopUp.get(row.id) ?? []));
}

/** @throws DomainError forbidden */
export function authorizeToSee(actor: Actor): void {
  authorize(actor, { roles: overseers, action: "see top-ups" });
}

/** @returns the open top-up of this amount; null: none is open */
async function continued(open: store.TopUpRow, amount: NanoUsd, parts: TopUpParts): Promise<store.TopUpRow | null> {
  const present = await checkTopUp(open, parts);
  if (!present.isPending) return null;
  if (present.state !== "open" && present.state !== "created") throw inTheMaking(present);
  if (present.amount === amount && isOpenFor(present, parts)) return present;
  const { id, workspace, session } = present;
  if (session !== null) await close(present, session, parts);
  await changeTopUp({ id, workspace }, parts, async ({ tx, topUp, now }) => {
    if (topUp.isPending) await store.updateTopUp({ ...topUp, state: "canceled", endedAt: now }, tx);
    return { result: null };
  });
  return null;
}

function inTheMaking({ id }: store.TopUpRow): DomainError {
  return new DomainError("conflict", `Cannot top up: the payment of ${id} is being made`, { field: "usd" });
}

/** A page that is about to close is of no use. */
function isOpenFor({ sessionExpiresAt }: store.TopUpRow, { clock }: TopUpParts): boolean {
  return sessionExpiresAt !== null && sessionExpiresAt.getTime() > clock.now() + checkoutOpenMs / 3;
}

/** Closes the page, unless its payer has just paid. */
async function close(topUp: store.TopUpRow, session: string, parts: TopUpParts): Promise<void> {
  try {
    await parts.stripe.expireCheckout(session);
  } catch (error) {
    if (!(error instanceof CallRefusedError)) throw error;
    const present = await checkTopUp(topUp, parts);
    if (present.isPending) throw inTheMaking(present);
  }
}

async function insert(
  { actor, workspace, amount, customer }: { actor: Actor; workspace: WorkspaceId; amount: NanoUsd; customer: string },
  parts: TopUpParts,
): Promise<store.TopUpRow> {
  return change(actor, parts, async (tx) => {
    await store.lockTopUpSettings(workspace, tx);
    const pending = await store.selectPending({ workspace, kind: "manual" }, tx);
    if (pending) throw inTheMaking(pending);
    const now = parts.clock.now();
    const id = newTopUpId(now);
    const { actor: madeBy } = signatureOf(actor);
    const of = { id, workspace, kind: "manual" as const, state: "created" as const, amount, customer, madeBy };
    const page = { paymentMethod: null, receiptEmail: null, sessionExpiresAt: new Date(now + checkoutOpenMs), at: new Date(now) };
    const result = await store.insertTopUp({ ...of, ...page }, tx);
    const changes = changedFields({ before: {}, after: { usd: formatUsd(amount) } });
    return { result, event: { event: "top_up.created", workspace, target: id, changes } };
  });
}

/** Stripe's customer of the workspace, which holds the saved card. */
async function customerOf(workspace: WorkspaceId, parts: TopUpParts): Promise<string> {
  const { customer } = await store.selectTopUpSettings(workspace, parts.sql);
  if (customer !== null) return customer;
  const created = await parts.stripe.createCustomer(workspace);
  return parts.sql.begin(async (tx) => {
    const settings = await store.lockTopUpSettings(workspace, tx);
    if (settings.customer !== null) return settings.customer;
    await store.updateTopUpSettings({ ...settings, customer: created }, tx);
    return created;
  });
}

function viewTopUp(row: store.TopUpRow, refunds: readonly store.RefundRow[]): TopUpView {
  const time = (at: Date | null): string | null => at && isoTime(at.getTime());
  const isOpen = row.state === "open" || row.state === "action_required";
  return {
    id: row.id,
    workspace_id: row.workspace,
    kind: row.kind,
    state: row.state,
    amount_usd: formatUsd(row.amount),
    received_usd: formatUsd(row.received),
    refunded_usd: formatUsd(row.refunded),
    disputed_usd: formatUsd(row.disputed),
    url: isOpen ? row.sessionUrl : null,
    failure: row.failure,
    retry_at: time(row.retryAt),
    payment_intent: row.paymentIntent,
    made_by: row.madeBy,
    created_at: isoTime(row.createdAt.getTime()),
    ended_at: time(row.endedAt),
    refunds: refunds.map(({ id, amount, state, madeBy, createdAt }) => ({
      id,
      usd: formatUsd(amount),
      state,
      made_by: madeBy,
      at: isoTime(createdAt.getTime()),
    })),
  };
}
