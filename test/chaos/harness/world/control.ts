/** The control API over several gateways: what one does not answer the next one is asked. */
import { systemClock, withDeadline } from "../../../../src/kernel/clock.ts";
import { Operator } from "../../../support/operator.ts";
import { operatorToken, type Testbed } from "./testbed.ts";

/** A gateway that is frozen never answers. */
const timeoutMs = 10_000;

export class Control {
  readonly #operators: Operator[];

  constructor({ gateways }: Pick<Testbed, "gateways">) {
    this.#operators = gateways.map(({ url }) => new Operator(url, operatorToken));
  }

  /** @throws Error of the last gateway when none answers well */
  async any<T>(ask: (operator: Operator) => Promise<T>): Promise<T> {
    let last: unknown = new Error("There is no gateway");
    for (const operator of this.#operators) {
      try {
        return await withDeadline(systemClock, timeoutMs, "The control API", ask(operator));
      } catch (error) {
        last = error;
      }
    }
    throw last;
  }
}
