/** Plans what happens about cards in a run. */
import type { CardBehaviour } from "../../support/stripe/stub-account.ts";
import { amountMax } from "../plan.ts";
import type { World } from "../world/world.ts";
import { People } from "./people.ts";
import { someAutomatic } from "./plan.ts";
import type { TopUps } from "./top-ups.ts";

const behaviours: CardBehaviour[] = ["chargeDeclinedInsufficientFunds", "chargeDeclinedLostCard", "authenticationRequired"];

/**
 * Automatic top-up serves the workspaces that compete for credit, in amounts of a few requests. Checkouts, refunds and disputes, whose
 * amounts are at least whole cents, are mostly those of the workspace with more credit than it needs.
 */
export function planTopUps(world: World, topUps: TopUps): void {
  const { plan, fleet, scheduler } = world;
  const { chance } = plan.topUps;
  const rich = plan.witness.record.workspace;
  const people = new People({ scheduler, chance, topUps, rich, gateways: () => fleet.gateways });
  topUps.onDecline = (declined) => people.answerDecline(declined);
  const automatic = plan.workspaces.filter(() => chance.happens(0.8)).map(({ id }) => id);
  for (const workspace of automatic) topUps.enable(workspace, someAutomatic(amountMax, chance));
  const often = (most: number, share: number, act: () => void): void => {
    for (let times = chance.between(0, most); times > 0; times--) scheduler.plan(chance.next() * plan.busyMs * share, null, act);
  };
  often(6, 0.8, () => people.topUp(rich));
  often(2, 1, () => world.injectFault("Stripe is down", () => topUps.close(chance.between(500, 15_000))));
  if (automatic.length === 0) return;
  often(2, 0.6, () => topUps.change(chance.pick(automatic), someAutomatic(amountMax, chance)));
  often(6, 0.8, () => {
    const workspace = chance.pick(automatic);
    topUps.setCard(workspace, chance.pick(behaviours));
    scheduler.plan(chance.between(5_000, 40_000), null, () => {
      topUps.setCard(workspace, "visa");
      if (chance.happens(0.6)) people.switchOn(workspace);
    });
  });
}
