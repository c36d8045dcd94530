/** Payments by card in the sample: a person's, an automatic one, and a declined one. */
import type { Database } from "../../../src/backing/backing.ts";
import type { Control } from "../control.ts";
import { TopUpWorld } from "../stripe/top-up-world.ts";

/** So that the sample's service takes cards; no payment is under way, and none becomes due. */
export const sampleStripe = {
  STRIPE_SECRET_KEY: "sk_test_of_the_sample",
  STRIPE_WEBHOOK_SECRET: "whsec_of_the_sample",
  STRIPE_API_URL: "http://127.0.0.1:9",
};

/** @returns the id of the person's payment */
export async function payByCard(
  { workspace, as }: { workspace: string; as: string },
  control: Control,
  sql: Database,
): Promise<string> {
  using world = new TopUpWorld(sql, control);
  const { id, card } = await world.pay(workspace, "100", as);
  await world.deliver(world.stub.event("payment_intent.succeeded"));
  await control.expect("POST", `/top-ups/${id}/refund`, { body: { usd: "25" } });
  const set = (threshold: string) =>
    control.expect("PATCH", "/top-up-settings", {
      body: { workspace, enabled: true, threshold_usd: threshold, amount_usd: "50", monthly_cap_usd: "5000" },
      as,
    });
  await set("5000");
  control.clock.advance(3_600_000);
  world.stub.account.cards.set(card, "chargeDeclinedInsufficientFunds");
  await world.check();
  await set("20");
  control.parts.topUps = null;
  return id;
}
