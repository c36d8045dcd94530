/** Calls the control API of the first gateway that answers. */
import { systemClock, withDeadline } from "../../../../src/kernel/clock.ts";
import { Operator } from "../../../support/operator.ts";
import { operatorToken, type Testbed } from "./testbed.ts";

/** A frozen gateway never answers, so each call has a timeout. */
const timeoutMs = 10_000;

export class Control {
  readonly #operators: Operator[];

  constructor({ gateways }: Pick<Testbed, "gateways">) {
    this.#operators = gateways.map(({ url }) => new Operator(url, operatorToken));
  }

  /** @throws Error of the last gateway when none succeeds */
  async any<T>(call: (operator: Operator) => Promise<T>): Promise<T> {
    let last: unknown = new Error("There is no gateway");
    for (const operator of this.#operators) {
      try {
        return await withDeadline(systemClock, timeoutMs, "The control API", call(operator));
      } catch (error) {
        last = error;
      }
    }
    throw last;
  }
}
