/**
 * Runs whose clients send idempotency keys, and send a request again with its key: at once, after its answer or after the death of its
 * gateway, at any gateway, and sometimes with another body. They draw from random numbers of their own, so that they change nothing in runs
 * without them.
 */
import { Chance } from "../chance.ts";
import type { Sent } from "../clients.ts";
import type { World } from "../world/world.ts";

/** One of five runs has them. */
export function repeatsOf(seed: number): Repeats | null {
  return seed % 5 === 2 ? new Repeats(seed) : null;
}

export class Repeats {
  readonly #chance: Chance;
  readonly #seed: number;
  #keys = 0;

  constructor(seed: number) {
    this.#chance = new Chance(seed ^ 0x5bd1e995);
    this.#seed = seed;
  }

  send(sent: Sent, world: Pick<World, "clients" | "fleet" | "scheduler" | "plan">): void {
    const { clients, fleet, scheduler, plan } = world;
    const chance = this.#chance;
    if (chance.happens(0.3)) return void clients.send(sent);
    const claim = { id: `claim-${this.#seed}-${++this.#keys}`, body: "body" };
    clients.send({ ...sent, claim });
    for (let times = chance.between(1, 3); times > 0; times--) {
      scheduler.plan(this.#pauseMs(), null, () => {
        if (scheduler.now >= plan.busyMs) return;
        const body = chance.happens(0.1) ? "another body" : claim.body;
        clients.send({ ...sent, gateway: chance.pick(fleet.gateways), claim: { ...claim, body } });
      });
    }
  }

  #pauseMs(): number {
    const [least, most] = this.#chance.pick([
      [0, 5],
      [5, 300],
      [300, 3_000],
      [3_000, 30_000],
      [60_000, 70_000],
    ] as const);
    return this.#chance.between(least, most);
  }
}
