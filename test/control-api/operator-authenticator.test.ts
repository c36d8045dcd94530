import { expect, test } from "bun:test";
import { OperatorAuthenticator } from "../../src/control-api/operator-authenticator.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { wrongTokensMax, wrongTokensPerSecond } from "../../src/control-api/limits.ts";
import { authenticate } from "../../src/control-api/authenticate.ts";
import { DomainError } from "../../src/accounts/errors.ts";
import { ManualClock } from "../support/clock.ts";

const token = "a-token-of-more-than-32-characters";
const bearing = (given?: string) =>
  new Request("http://weir/", { headers: given === undefined ? {} : { authorization: `Bearer ${given}` } });

function open() {
  const clock = new ManualClock();
  const authenticator = new OperatorAuthenticator(new Secret(token), clock);
  /** The error's code, or the principal. */
  const outcome = async (given: string | undefined, address: string | null = "192.0.2.1"): Promise<string> => {
    try {
      return (await authenticate({ request: bearing(given), address }, [authenticator])).kind;
    } catch (error) {
      return error instanceof DomainError ? error.code : String(error);
    }
  };
  return { clock, outcome, authenticator };
}

test("a client that guesses is held to some guesses a second", async () => {
  const { clock, outcome } = open();
  for (let n = 0; n < wrongTokensMax; n++) expect(await outcome(`guess-${n}`)).toBe("unauthorized");
  expect(await outcome("guess")).toBe("rate_limited");
  clock.advance(1_000);
  const outcomes = await Promise.all(Array.from({ length: wrongTokensPerSecond + 1 }, (_, n) => outcome(`guess-${n}`)));
  expect(outcomes).toEqual([...Array<string>(wrongTokensPerSecond).fill("unauthorized"), "rate_limited"]);
});

test("the right token is never refused, also not during a flood of wrong ones from its own address", async () => {
  const { outcome, authenticator } = open();
  const address = "192.0.2.1";
  for (let n = 0; n <= 2 * wrongTokensMax; n++) {
    await outcome("guess");
    if (n % 100 > 0) continue;
    expect([await outcome(token), await outcome(token, null)]).toEqual(["operator", "operator"]);
    expect(authenticator.isOperator(bearing(token), address)).toBe(true);
    expect(() => authenticator.requireToken(token, address)).not.toThrow();
  }
});

test("wrong tokens of the sign-in's form are counted apart, so that a flood of forms slows no other client", async () => {
  const { outcome, authenticator } = open();
  const typed = (given: string) => {
    try {
      authenticator.requireToken(given, "192.0.2.1");
      return "operator";
    } catch (error) {
      return error instanceof DomainError ? error.code : String(error);
    }
  };
  for (let n = 0; n < wrongTokensMax; n++) expect(typed(`guess-${n}`)).toBe("unauthorized");
  expect([typed("guess"), typed(""), typed(token), await outcome("guess")]).toEqual([
    "rate_limited",
    "rate_limited",
    "operator",
    "unauthorized",
  ]);
});

test("a request without a token, and one with the right token, count as no guess", async () => {
  const { outcome } = open();
  for (let n = 0; n <= wrongTokensMax; n++) {
    expect([await outcome(undefined), await outcome(token)]).toEqual(["unauthorized", "operator"]);
  }
  expect(await outcome("guess")).toBe("unauthorized");
});
