/** A second kind of credential opens the control API with a member's role. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DomainError } from "../../src/accounts/errors.ts";
import type { Authenticator } from "../../src/accounts/members/principal.ts";
import { OperatorAuthenticator, authenticate } from "../../src/control-api/authenticate.ts";
import { endpoints } from "../../src/control-api/endpoints.ts";
import { wrongTokensMax, wrongTokensPerSecond } from "../../src/control-api/limits.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { ManualClock } from "../support/clock.ts";
import { Control, objectOf } from "../support/control.ts";
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

describe("a tools key", () => {
  const keyOf = async (owner: string, form: Record<string, unknown> = {}) =>
    (await control.key("w", { kind: "tools", owner, ...form })).key;
  const message = async (method: string, path: string, sent: object) => {
    const { status, body } = await control.call(method, path, sent);
    return [status, Object(objectOf(body)["error"]).message] as const;
  };
  const bom = { bomFormat: "CycloneDX", specVersion: "1.5", components: [] };

  test("it opens what a build needs and nothing else, and the refusal names what is missing", async () => {
    const token = await keyOf("admin@w");
    const open = endpoints.filter(({ takesToolsKey }) => takesToolsKey).map(({ method, path }) => `${method} ${path}`);
    expect(open).toEqual([
      "GET /advisories",
      "POST /sboms",
      "POST /repositories",
      "POST /repositories/archive",
      "GET /projects",
      "GET /scans",
      "GET /projects/:id",
      "GET /projects/:id/state",
      "GET /projects/:id/components",
      "GET /projects/:id/fixes",
      "GET /components",
      "GET /findings",
      "GET /finding-groups",
      "GET /finding-counts",
      "PATCH /findings",
      "GET /urgent-findings",
      "GET /findings/:id",
      "GET /findings/:id/events",
      "GET /vex",
      "POST /vex",
      "GET /vulnerabilities",
      "GET /vulnerabilities/:id",
    ]);
    for (const { method, path, takesToolsKey } of endpoints) {
      const { status } = await control.call(method, path, { token });
      expect([path, status === 403, status === 401]).toEqual([path, !takesToolsKey, false]);
    }
    expect(await message("GET", "/keys?workspace=w", { token })).toEqual([
      403,
      "Cannot GET /keys with a tools key, which opens uploads, projects, findings and VEX: it requires the operator token",
    ]);
  });

  test("it acts as its owner, with the role that the owner has, and the audit log names both", async () => {
    const upload = (token: string, project: string) =>
      message("POST", `/sboms?workspace=w&project=${project}`, { token, body: bom });
    expect((await upload(await keyOf("member@w"), "by key"))[0]).toBe(201);
    const [row] = await control.list("/audit?workspace=w&limit=1");
    expect(row).toMatchObject({ actor: "member@w", role: "member", carried_by: "tools key" });
    await control.expect("POST", "/members", { body: { workspace: "w", email: "later@w", role: "member" } });
    const auditing = await keyOf("later@w");
    await control.expect("PATCH", "/members/later@w", { body: { workspace: "w", role: "auditor" } });
    expect((await message("GET", "/findings?workspace=w", { token: auditing }))[0]).toBe(200);
    expect(await upload(auditing, "x")).toEqual([
      403,
      expect.stringMatching(/ as auditor: it requires the role member or admin/),
    ]);
  });

  test("it needs no workspace in a call, in the query or in the body; the operator token and sessions do", async () => {
    const token = await keyOf("member@w");
    expect((await message("POST", "/sboms?project=own", { token, body: bom }))[0]).toBe(201);
    const { body } = await control.call("GET", "/projects?text=own", { token });
    expect(objectOf(body)["data"]).toMatchObject([{ name: "own" }]);
    expect(await message("POST", "/repositories", { token, body: { url: "x" } })).toEqual([
      400,
      expect.stringContaining("is not the address of a repository"),
    ]);
    expect(await control.refusal("GET", "/projects")).toBe("400 invalid_field workspace");
    expect(await control.refusal("GET", "/projects", { as: "member@w" })).toBe("400 invalid_field workspace");
    expect((await message("GET", "/projects?workspace=", { token }))[0]).toBe(403);
  });

  test("it opens its own workspace alone, also where its owner has another, and does not tell which ones exist", async () => {
    await control.workspace("other");
    await control.expect("POST", "/members", { body: { workspace: "other", email: "member@w", role: "admin" } });
    const token = await keyOf("member@w");
    for (const named of ["other", "none"]) {
      expect(await message("GET", `/findings?workspace=${named}`, { token })).toEqual([
        403,
        `Cannot act in the workspace "${named}" with this tools key: it opens only the workspace in which it was made`,
      ]);
    }
  });

  test("it ends with its revocation, is held to its calls a minute, and takes no other person's name", async () => {
    const { id, key: token } = await control.key("w", { kind: "tools", rate_limit_rpm: 2 });
    const list = () => control.call("GET", "/findings?workspace=w", { token });
    expect(await control.refusal("GET", "/findings?workspace=w", { token, as: "admin@w" })).toBe("403 forbidden X-Act-As");
    expect((await list()).status).toBe(200);
    const refused = await list();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
    control.clock.advance(60_000);
    expect((await list()).status).toBe(200);
    await control.expect("POST", `/keys/${id}/revoke`);
    expect((await list()).status).toBe(401);
    const unknown = { token: `platform-mcp-${"0".repeat(64)}` };
    expect(await control.refusal("GET", "/workspaces", unknown)).toBe("401 unauthorized null");
    expect(await control.refusal("GET", "/findings?workspace=w", { token: (await control.key("w")).key })).toBe(
      "401 unauthorized null",
    );
  });
});
