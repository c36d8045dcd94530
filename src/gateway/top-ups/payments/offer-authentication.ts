import { authenticationOpenMs } from "../limits.ts";
import { changeTopUp } from "../change-top-up.ts";
import { authenticationMail } from "../mails.ts";
import { openCheckout } from "./open-checkout.ts";
import type { TopUpParts } from "../parts.ts";
import { updateTopUp, type TopUpRow } from "../store.ts";
import { tellFailure } from "../tell-failure.ts";

/**
 * Opens a page of Stripe for an automatic payment that its bank wants a person to authenticate, and mails it to the admins once.
 * Repeated after a crash, it opens the same page.
 */
export async function offerAuthentication(
  { id, workspace }: Pick<TopUpRow, "id" | "workspace">,
  parts: TopUpParts,
): Promise<void> {
  const prepared = await changeTopUp({ id, workspace }, parts, async ({ tx, topUp }) => {
    if (topUp.state !== "action_required" || topUp.session !== null) return { result: null };
    const next = { ...topUp, sessionExpiresAt: new Date(topUp.triedAt.getTime() + authenticationOpenMs) };
    await updateTopUp(next, tx);
    return { result: next };
  });
  if (prepared === null) return;
  await openCheckout(prepared, parts, async (opened, tx) => {
    const { sessionUrl: url } = opened;
    if (url === null) return;
    const told = { topUp: opened, occurrence: `page ${opened.try}`, failure: "authentication_required" };
    const mail = authenticationMail({ topUp: opened, url });
    await tellFailure({ ...told, mail }, { sql: tx, clock: parts.clock });
  });
}
