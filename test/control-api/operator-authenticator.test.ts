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
  return { clock, outcome };
}

test("a client that guesses is held to some guesses a second, and does not learn which one was right", async () => {
  const { clock, outcome } = open();
  for (let n = 0; n < wrongTokensMax; n++) expect(await outcome(`guess-${n}`)).toBe("unauthorized");
  expect([await outcome("guess"), await outcome(token)]).toEqual(["rate_limited", "rate_limited"]);
  clock.advance(1_000);
  const outcomes = await Promise.all(Array.from({ length: wrongTokensPerSecond + 1 }, (_, n) => outcome(`guess-${n}`)));
  expect(outcomes).toEqual([...Array<string>(wrongTokensPerSecond).fill("unauthorized"), "rate_limited"]);
});

test("the operator is admitted at another address meanwhile, and at the same address a second later", async () => {
  const { clock, outcome } = open();
  for (let n = 0; n <= wrongTokensMax; n++) await outcome("guess");
  expect([await outcome(token, "192.0.2.2"), await outcome(token, null)]).toEqual(["operator", "operator"]);
  clock.advance(1_000);
  expect(await outcome(token)).toBe("operator");
});

test("a request without a token, and one with the right token, count as no guess", async () => {
  const { outcome } = open();
  for (let n = 0; n <= wrongTokensMax; n++) {
    expect([await outcome(undefined), await outcome(token)]).toEqual(["unauthorized", "operator"]);
  }
  expect(await outcome("guess")).toBe("unauthorized");
});
