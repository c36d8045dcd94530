/**
 * Opens Stripe's page for a top-up. After a crash it gives the same page: the call has the top-up's key and the values of its row. After a
 * call without an answer the next one has another key, since an error of Stripe's servers stays the answer to its key for a day; nobody
 * knows the address of the page that the first call may have opened.
 */
import { DomainError } from "../../../accounts/errors.ts";
import type { Transaction } from "../../../backing/backing.ts";
import { changeTopUp } from "../change-top-up.ts";
import { endTry } from "./decline-payment.ts";
import type { TopUpParts } from "../parts.ts";
import { updateTopUp, type TopUpRow } from "../store.ts";
import { CallRefusedError, type CheckoutSession } from "../stripe/stripe-api.ts";

/**
 * @param onOpened runs once, in the transaction that stores the page
 * @returns the top-up with its open page
 * @throws CallRefusedError after which the top-up has failed; StripeUnavailableError: the sweeper or the next call repeats it
 */
export async function openCheckout(
  topUp: TopUpRow,
  parts: TopUpParts,
  onOpened: (opened: TopUpRow, tx: Transaction) => Promise<void> = async () => {},
): Promise<TopUpRow> {
  const { id, workspace } = topUp;
  const session = await createCheckout(topUp, parts).catch(async (error: unknown) => {
    if (error instanceof CallRefusedError) await fail(topUp, error.code, parts);
    else await changeKey(topUp, parts);
    throw error;
  });
  const opened = await changeTopUp({ id, workspace }, parts, async ({ tx, topUp: present }) => {
    const state = present.state === "created" ? "open" : present.state;
    const next = { ...present, state, session: session.id, sessionUrl: session.url };
    await updateTopUp(next, tx);
    if (present.session === null) await onOpened(next, tx);
    return { result: next };
  });
  return opened ?? topUp;
}

async function createCheckout(topUp: TopUpRow, { stripe, publicUrl }: TopUpParts): Promise<CheckoutSession> {
  const { id, workspace, amount, customer, sessionExpiresAt } = topUp;
  if (customer === null || sessionExpiresAt === null) throw new Error(`The top-up ${id} has nothing to open a page with`);
  return stripe.createCheckout({
    topUp: id,
    try: topUp.try,
    amount,
    customer,
    expiresAt: sessionExpiresAt.getTime(),
    returnUrl: `${publicUrl}/console/w/${workspace}/top-ups/${id}`,
  });
}

/** No page can be opened for it any more, such as after its time. Automatic top-up is off then, as nobody can authenticate the payment. */
async function fail({ id, workspace }: TopUpRow, failure: string, parts: TopUpParts): Promise<void> {
  await changeTopUp({ id, workspace }, parts, async (locked) => {
    const { tx, topUp, now } = locked;
    if (!topUp.isPending || topUp.session !== null) return { result: null };
    const { paymentIntent } = topUp;
    if (topUp.kind === "automatic")
      return { ...(await endTry({ failure, paymentIntent, isFinal: true }, locked, parts)), result: null };
    await updateTopUp({ ...topUp, state: "failed", failure, endedAt: now }, tx);
    return { result: null };
  });
}

async function changeKey({ id, workspace, try: tried }: TopUpRow, parts: TopUpParts): Promise<void> {
  await changeTopUp({ id, workspace }, parts, async ({ tx, topUp }) => {
    if (topUp.session === null && topUp.try === tried) await updateTopUp({ ...topUp, try: tried + 1 }, tx);
    return { result: null };
  });
}

/** The error of a person's request, after Stripe did not do what was asked. @param action completes "Cannot …" */
export function stripeProblem(error: unknown, action: string): unknown {
  if (error instanceof CallRefusedError)
    return new DomainError("conflict", `Cannot ${action}: Stripe refused it as ${error.code}`, { cause: error });
  const isUnavailable = error instanceof Error && ["StripeUnavailableError", "KeyReusedError"].includes(error.name);
  if (!isUnavailable) return error;
  return new DomainError("unavailable", `Cannot ${action}: Stripe did not answer; try again`, { cause: error });
}
