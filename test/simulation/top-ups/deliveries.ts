/** Stripe's events on their way to the gateways: late, in any order, twice, and again until one is answered. */
import { applyEvent, type StripeEvent } from "../../../src/gateway/top-ups/webhook.ts";
import type { StubObject } from "../../support/stripe/stub-account.ts";
import type { Chance } from "../chance.ts";
import type { SimGateway } from "../gateway.ts";
import type { Scheduler } from "../scheduler.ts";
import type { NetworkConditions } from "../world/network-conditions.ts";
import { mustBeExplained } from "./explained.ts";
import { nanoPerCent } from "./plan.ts";
import type { TopUps } from "./top-ups.ts";

interface DeliveryParts {
  scheduler: Scheduler;
  conditions: NetworkConditions;
  chance: Chance;
  gateways(): SimGateway[];
  topUps: TopUps;
}

const againMs = 7_000;

/** The sweeper asks about payments whose events never come. */
const isSwept = /^(?:payment_intent|checkout)/;

export class Deliveries {
  readonly #parts: DeliveryParts;
  readonly #waiting = new Set<StripeEvent>();

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  /** The number of events without an answer. */
  get waiting(): number {
    return this.#waiting.size;
  }

  send(id: string, type: string, object: StubObject): void {
    const { chance, scheduler } = this.#parts;
    if (isSwept.test(type) && chance.happens(0.15)) return;
    const { amount } = object;
    // Whole cents are taken back, as Stripe counts. The amounts of payments are read from Stripe.
    const inCents = typeof amount === "number" && !isSwept.test(type) ? { amount: amount / nanoPerCent } : {};
    const event = { id, type, livemode: false, data: { object: { ...object, ...inCents } } };
    this.#waiting.add(event);
    for (let copies = chance.happens(0.3) ? 2 : 1; copies > 0; copies--)
      scheduler.plan(chance.next() * chance.pick([2, 50, 2_000, 20_000]), null, () => this.#attempt(event));
  }

  #attempt(event: StripeEvent): void {
    const { chance, conditions, scheduler, gateways, topUps } = this.#parts;
    let isAnswered = false;
    scheduler.plan(againMs, null, () => void (isAnswered || this.#attempt(event)));
    const gateway = chance.pick(gateways());
    if (gateway.host.isDead || conditions.isLost()) return;
    const answered = (): void => {
      if (conditions.isLost()) return;
      isAnswered = true;
      this.#waiting.delete(event);
    };
    scheduler.plan(
      conditions.delayMs(),
      gateway.host,
      () => void applyEvent(event, topUps.partsOfGateway(gateway)).then(answered, mustBeExplained),
    );
  }
}
