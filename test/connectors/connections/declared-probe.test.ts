/** Tests of credentials that the catalog declares: what a customer's value may do in a request, and each of them played against an answer. */
import { describe, expect, test } from "bun:test";
import { catalogOf } from "../../../src/connectors/catalog/files/judge.ts";
import { readConnectorFiles } from "../../../src/connectors/catalog/files/read-file.ts";
import { findingsOf } from "../../../src/connectors/catalog/files/rules.ts";
import type { Connector, Field, DeclaredProbe } from "../../../src/connectors/catalog/files/schema.ts";
import { fieldsIn, probeOf } from "../../../src/connectors/connections/declared-probe.ts";
import { CredentialError, type ProbeFetch } from "../../../src/connectors/connections/probe.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { sampleConnector } from "../catalog/sample.ts";

const documented = { source: "https://docs.acme.example/api", seen: "2026-11-29" };
const bearer = [{ name: "Authorization", value: "Bearer {api_key}" }];
const plain: DeclaredProbe = { method: "GET", url: "https://api.acme.example/v1/users?limit=1", headers: bearer, ...documented };

type Asked = Parameters<ProbeFetch>[0];

/** What is sent for these values, with an answer to each request. */
async function sent(probe: DeclaredProbe, values: Record<string, string>, ...answers: { status: number; body: string }[]) {
  const asked: Asked[] = [];
  const probeFetch: ProbeFetch = async (request) => {
    asked.push(request);
    return answers[asked.length - 1] ?? { status: 200, body: "{}" };
  };
  const value = (key: string): string => {
    const given = values[key];
    if (given === undefined) throw new CredentialError(key, "the test needs it");
    return given;
  };
  const answer = await probeOf("acme", probe).call(value, { probeFetch, clock: systemClock });
  return { asked, answer, href: asked.at(-1)?.url.href };
}

describe("a value in an address", () => {
  const below: DeclaredProbe = { ...plain, url: "https://{account}.acme.example/api/users/{user}" };
  const within: DeclaredProbe = { ...plain, url: "https://api.{region}.acme.example/me" };
  const whole: DeclaredProbe = { ...plain, url: "https://{account}/api/users/{user}", hosts: ["acme.example", "acme.test"] };
  const hosted: DeclaredProbe = { ...plain, url: "{account}/api/v4/user" };
  const with_ = (account: string) => ({ account, user: "me", region: account, api_key: "key" });

  test.each([
    [below, "shop", "https://shop.acme.example/api/users/me"],
    [below, " https://shop.acme.example/ ", "https://shop.acme.example/api/users/me"],
    [within, "eu-1", "https://api.eu-1.acme.example/me"],
    [whole, "shop.acme.test", "https://shop.acme.test/api/users/me"],
    [whole, "shop", "https://shop.acme.example/api/users/me"],
    [hosted, "git.shop.example", "https://git.shop.example/api/v4/user"],
    [hosted, "https://shop.example/git/", "https://shop.example/git/api/v4/user"],
  ])("%# completes it", async (probe, account, expected) => {
    expect((await sent(probe, with_(account))).href).toBe(expected);
  });

  test.each([below, within, whole])("%# leads nowhere else", async (probe) => {
    const thieves = [
      "thief.test",
      "acme.example.thief.test",
      "x@thief.test",
      "thief.test/acme.example",
      "thief.test#",
      "a.b",
      "..",
      "",
      "::1",
    ];
    for (const thief of thieves) {
      const tried = sent(probe, with_(thief)).then(({ href }) => href);
      expect([thief, await tried.catch((error: unknown) => error instanceof CredentialError)]).toEqual([thief, true]);
    }
  });

  test("is encoded in a path and a query", async () => {
    const probe: DeclaredProbe = { ...plain, url: "https://api.acme.example/orgs/{org}?q={org}" };
    const { href } = await sent(probe, { org: "../a b&c=d#e", api_key: "key" });
    expect(href).toBe("https://api.acme.example/orgs/..%2Fa%20b%26c%3Dd%23e?q=..%2Fa%20b%26c%3Dd%23e");
  });

  test("of a customer's own server is an https address without a user", async () => {
    for (const wrong of ["http://git.shop.example", "https://a:b@git.shop.example", "ftp://x", "https://"])
      await expect(sent(hosted, with_(wrong))).rejects.toThrow(CredentialError);
  });
});

test("a value breaks out of no header and no body", async () => {
  await expect(sent(plain, { api_key: "key\r\nX-Admin: 1" })).rejects.toThrow(CredentialError);
  const posted: DeclaredProbe = { ...plain, method: "POST", body: '{"query":"{ viewer { id } }","org":"{org}"}' };
  const { asked } = await sent(posted, { api_key: "key", org: '"}\n{"admin":"' });
  expect(JSON.parse(asked[0]?.body ?? "")).toEqual({ query: "{ viewer { id } }", org: '"}\n{"admin":"' });
});

test("basic credentials are sent as RFC 7617 says", async () => {
  const { headers: _, ...open } = plain;
  const { asked } = await sent({ ...open, basic: ["{user}/token", "{api_key}"] }, { user: "ü", api_key: "k:1" });
  expect(Buffer.from(asked[0]?.headers["authorization"]?.slice(6) ?? "", "base64").toString()).toBe("ü/token:k:1");
});

describe("a token", () => {
  const token = {
    url: "https://{account}.acme.example/token",
    form: [
      { name: "grant_type", value: "client_credentials" },
      { name: "client_secret", value: "{api_key}" },
    ],
  };
  const probe: DeclaredProbe = { ...plain, token, headers: [{ name: "Authorization", value: "Bearer {access_token}" }] };
  const values = { account: "shop", api_key: "a&b" };

  test("is asked for first, and carries the request", async () => {
    const { asked } = await sent(probe, values, { status: 200, body: '{"access_token":"t-1"}' });
    expect(asked.map(({ method, url, body }) => [method, url.href, body])).toEqual([
      ["POST", "https://shop.acme.example/token", "grant_type=client_credentials&client_secret=a%26b"],
      ["GET", "https://api.acme.example/v1/users?limit=1", undefined],
    ]);
    expect(asked[1]?.headers["Authorization"]).toBe("Bearer t-1");
    expect(fieldsIn(probe)).toEqual(["account", "api_key"]);
  });

  test.each([
    [{ status: 400, body: '{"error":"invalid_client"}' }, 401],
    [{ status: 500, body: "" }, 500],
    [{ status: 200, body: "<html>" }, 200],
    [{ status: 200, body: '{"access_token":"t\\r\\nX-Admin: 1"}' }, 200],
  ])("that does not come ends it: %j", async (answer, status) => {
    const result = await sent(probe, values, answer);
    expect([result.asked.length, result.answer.status, result.answer.body.includes("X-Admin")]).toEqual([1, status, false]);
  });
});

describe("a file's probe", () => {
  const surroundings = { categories: new Set(["Identity & SSO"]), notes: new Map(), oauthApps: new Set<string>() };
  const wrongOf = (probe: DeclaredProbe) => {
    const { credential_sets: [set] = [] } = sampleConnector();
    const connector = sampleConnector({ credential_sets: [{ fields: set?.fields ?? [], probe }] });
    return findingsOf(connector, surroundings)
      .map(([field]) => field)
      .filter((field) => field.includes("probe"));
  };

  test.each([
    ["another field", { ...plain, url: "https://api.acme.example/{nothing}" }, "url"],
    ["a host without the vendor's domain", { ...plain, url: "https://api.{org_url}/me" }, "url"],
    ["a host that a value ends", { ...plain, url: "https://acme.{org_url}" }, "url"],
    ["a secret in the host", { ...plain, url: "https://{api_key}.acme.example/me" }, "url"],
    ["hosts that bound nothing", { ...plain, hosts: ["acme.example"] }, "hosts"],
    ["a body of GET", { ...plain, body: "{}" }, "body"],
    ["a body that is not JSON", { ...plain, method: "POST" as const, body: "a=b" }, "body"],
  ])("is refused for %s", (_, probe, field) => {
    expect(wrongOf(probe)).toContain(`credential_sets[0].probe.${field}`);
  });

  test("may send to a field's own host, and to the vendor's", () => {
    expect([wrongOf(plain), wrongOf({ ...plain, url: "{org_url}/api/me" })]).toEqual([[], []]);
  });
});

// Every probe of the catalog

const { connectors } = catalogOf(await readConnectorFiles(new URL("../../../catalog-data", import.meta.url).pathname));
const declared = connectors.flatMap(({ id, credential_sets: sets = [] }: Connector) =>
  sets.flatMap(({ fields, probe }, set): [string, { fields: readonly Field[]; probe: DeclaredProbe }][] =>
    probe === undefined ? [] : [[`${id} ${set}`, { fields, probe }]],
  ),
);

/** A value as the vendor's form takes it. */
function sampleOf({ key, secret, kind, example }: Field, { url, hosts }: DeclaredProbe): string {
  if (secret) return `right-${key}`;
  const isHost = new RegExp(`^(https://)?\\{${key}\\}(?!\\.)`).test(url);
  if (isHost) return hosts === undefined ? "https://acme.example.com" : `acme.${hosts[0]}`;
  if (kind === "url") return "https://acme.example.com";
  return example !== undefined && /^[\w-]+$/.test(example) ? example : "acme";
}

test.each(declared)(
  "%s reads with the right secrets, is refused with wrong ones, and shows no secret in a host",
  async (_, { fields, probe }) => {
    const values = Object.fromEntries(fields.map((field) => [field.key, sampleOf(field, probe)]));
    const used = fields.filter(({ key, secret }) => secret && fieldsIn(probe).includes(key)).map(({ key }) => `right-${key}`);
    expect(used.length).toBeGreaterThan(0);
    const vendor: ProbeFetch = async ({ url, headers, body = "", method }) => {
      expect([url.protocol, url.hostname.includes("right-"), method === "GET" || body !== ""]).toEqual(["https:", false, true]);
      const pair = Buffer.from(/^Basic (.+)$/.exec(headers["authorization"] ?? "")?.[1] ?? "", "base64").toString();
      const text = [decodeURIComponent(url.href), ...Object.values(headers), pair, decodeURIComponent(body)].join(" ");
      const isRight = text.includes("token-1") || used.every((secret) => text.includes(secret));
      return isRight ? { status: 200, body: '{"access_token":"token-1"}' } : { status: 401, body: "" };
    };
    const statusWith = async (changed: Record<string, string>) => {
      const value = (key: string): string => ({ ...values, ...changed })[key] ?? "";
      return (await probeOf("any", probe).call(value, { probeFetch: vendor, clock: systemClock })).status;
    };
    expect(await statusWith({})).toBe(200);
    for (const secret of used) expect(await statusWith({ [secret.slice(6)]: "wrong" })).toBe(401);
  },
);
