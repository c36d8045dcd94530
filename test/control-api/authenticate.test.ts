/** A second kind of credential opens the control API with a member's role. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { DomainError } from "../../src/accounts/errors.ts";
import type { Authenticator } from "../../src/accounts/members/principal.ts";
import { OperatorAuthenticator, authenticate } from "../../src/control-api/authenticate.ts";
import { wrongTokensMax, wrongTokensPerSecond } from "../../src/control-api/limits.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { ManualClock } from "../support/clock.ts";
import { Control } from "../support/control.ts";
import { openEmbeddedDatabase, type TestDatabase } from "../support/servers/databases.ts";

/** A credential such as a session: the header names the person whose it is. */
const sessions: Authenticator = {
  async authenticate(request) {
    const email = request.headers.get("x-test-session");
    return email === null ? null : { kind: "person", email, carriedBy: "first start" };
  },
};

let database: TestDatabase;
let control: Control;
beforeAll(async () => {
  database = await openEmbeddedDatabase();
  control = new Control(database.sql, undefined, [sessions]);
  await control.workspace("w", "1");
}, 60_000);
afterAll(() => database[Symbol.asyncDispose]());

const as = (email: string, body?: unknown) => ({ token: null, headers: { "x-test-session": email }, body });

test("a session acts as its member in each workspace, with the role that the member has there", async () => {
  const made = await control.expect("POST", "/keys", as("member@w", { workspace: "w" }));
  expect(made).toMatchObject({ owner: "member@w" });
  expect(await control.refusal("PATCH", "/workspaces/w", as("member@w", { fallbacks: false }))).toBe("403 forbidden null");
  await control.expect("PATCH", "/workspaces/w", as("admin@w", { fallbacks: false }));
  const [row] = await control.list("/audit?workspace=w&limit=1");
  expect(row).toMatchObject({ event: "workspace.updated", actor: "admin@w", role: "admin", carried_by: "first start" });
});

test("a session cannot do what only the operator can, nor act in a workspace without a membership", async () => {
  expect(await control.refusal("POST", "/workspaces", as("super_admin@w", { name: "x" }))).toBe("403 forbidden null");
  expect(await control.refusal("GET", "/workspaces/w", as("stranger@x"))).toBe("403 forbidden null");
  expect(await control.refusal("GET", "/keys", as("admin@w"))).toBe("400 invalid_field workspace");
});

test("a request without any credential is refused, and the operator token still opens the API", async () => {
  expect(await control.refusal("GET", "/workspaces", { token: null })).toBe("401 unauthorized null");
  await control.expect("GET", "/workspaces");
});

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
