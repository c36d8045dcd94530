import { expect, test } from "bun:test";
import { OperatorGate } from "../../src/control-api/operator-gate.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { wrongTokensMax, wrongTokensPerSecond } from "../../src/control-api/limits.ts";
import { DomainError } from "../../src/accounts/errors.ts";
import { ManualClock } from "../support/clock.ts";

const token = "a-token-of-more-than-32-characters";
const bearing = (given?: string) =>
  new Request("http://weir/", { headers: given === undefined ? {} : { authorization: `Bearer ${given}` } });

function open() {
  const clock = new ManualClock();
  const gate = new OperatorGate(new Secret(token), clock);
  /** The refusal's code; null: it may pass. */
  const outcome = (given: string | undefined, address: string | null = "192.0.2.1"): string | null => {
    try {
      gate.authorize(bearing(given), address);
      return null;
    } catch (error) {
      return error instanceof DomainError ? error.code : String(error);
    }
  };
  return { clock, outcome };
}

test("whoever guesses is held to some guesses a second, and does not learn which one was right", () => {
  const { clock, outcome } = open();
  for (let n = 0; n < wrongTokensMax; n++) expect(outcome(`guess-${n}`)).toBe("unauthorized");
  expect([outcome("guess"), outcome(token)]).toEqual(["rate_limited", "rate_limited"]);
  clock.advance(1_000);
  const outcomes = Array.from({ length: wrongTokensPerSecond + 1 }, (_, n) => outcome(`guess-${n}`));
  expect(outcomes).toEqual([...Array<string>(wrongTokensPerSecond).fill("unauthorized"), "rate_limited"]);
});

test("the operator elsewhere goes on meanwhile, and from the same address a second later", () => {
  const { clock, outcome } = open();
  for (let n = 0; n <= wrongTokensMax; n++) outcome("guess");
  expect([outcome(token, "192.0.2.2"), outcome(token, null)]).toEqual([null, null]);
  clock.advance(1_000);
  expect(outcome(token)).toBeNull();
});

test("requests without a token, and with the right one, are no guesses", () => {
  const { outcome } = open();
  for (let n = 0; n <= wrongTokensMax; n++) expect([outcome(undefined), outcome(token)]).toEqual(["unauthorized", null]);
  expect(outcome("guess")).toBe("unauthorized");
});
