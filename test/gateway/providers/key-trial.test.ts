/** How a key is tried: what it costs, and that the outcomes are told apart. */
import { describe, expect, test } from "bun:test";
import type { ProviderEntry } from "../../../src/gateway/models/schema.ts";
import { tryProviderKey } from "../../../src/gateway/providers/key-trial.ts";
import { UpstreamFailure } from "../../../src/gateway/providers/provider.ts";
import { DeadlineError } from "../../../src/kernel/clock.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { aRoute } from "../../support/providers/models.ts";

const good = "sk-good";
type Answer = { status: number; body?: unknown } | Error;

/** @param answers to a request with the good key, with another one, and without; by host */
async function trial(
  answers: (request: { host: string; key: string | null }) => Answer,
  {
    entry = {},
    key = good,
    call = null,
  }: { entry?: Partial<ProviderEntry>; key?: string; call?: null | (() => Promise<UpstreamFailure | null>) } = {},
) {
  const asked: string[] = [];
  const { provider } = aRoute({ name: "Acme", base_url: "https://acme.example/v1", ...entry });
  const tried = await tryProviderKey(
    { provider, key: new Secret(key) },
    {
      call,
      async fetch({ url, headers }) {
        const sent =
          headers["authorization"]?.replace("Bearer ", "") ?? headers["x-api-key"] ?? headers["x-goog-api-key"] ?? null;
        asked.push(`${url.host}${url.pathname}${url.search} ${sent ?? "-"}`);
        const answer = answers({ host: url.host, key: sent });
        if (answer instanceof Error) throw answer;
        return { status: answer.status, headers: {}, body: Buffer.from(JSON.stringify(answer.body ?? {})) };
      },
    },
  );
  return { ...tried, asked };
}

const refused = { status: 401, body: { error: { message: "Incorrect API key provided", code: "invalid_api_key" } } };
const listed = { status: 200, body: { data: [] } };
const byKey = ({ key }: { key: string | null }): Answer => (key === good ? listed : refused);
const never = () => Promise.reject(new Error("The model must not be called"));

describe("a list of models that needs a key proves it, at no cost", () => {
  test("with the key it is answered, without it refused", async () => {
    const { outcome, asked } = await trial(byKey, { call: never });
    expect([outcome, asked]).toEqual(["accepted", ["acme.example/v1/models sk-good", "acme.example/v1/models -"]]);
  });

  test("Anthropic and Google are asked in their own way, for one row", async () => {
    const anthropic = await trial(byKey, { entry: { format: "anthropic" }, call: never });
    const google = await trial(byKey, { entry: { format: "google" }, call: never });
    expect([anthropic, google].map(({ outcome, asked }) => [outcome, asked[0]])).toEqual([
      ["accepted", "acme.example/v1/models?limit=1 sk-good"],
      ["accepted", "acme.example/v1/models?pageSize=1 sk-good"],
    ]);
  });

  test("a refused key is not called with", async () => {
    const { outcome, message, asked } = await trial(byKey, { key: "sk-wrong", call: never });
    expect([outcome, asked]).toEqual(["refused", ["acme.example/v1/models sk-wrong"]]);
    expect(message).toBe(
      "Acme refused the key: check that all of it was copied, that it is a key of Acme, and that it was not revoked",
    );
  });
});

describe("where the list proves nothing, one launch check does", () => {
  const failing = (code: ConstructorParameters<typeof UpstreamFailure>[0], detail: string) => async () =>
    new UpstreamFailure(code, detail);
  const cases: [string, Answer, null | (() => Promise<UpstreamFailure | null>), string][] = [
    ["everyone gets the list", listed, async () => null, "accepted"],
    ["there is no list", { status: 404 }, async () => null, "accepted"],
    ["the key may not list models", { status: 403 }, async () => null, "accepted"],
    ["the key may neither list nor call", { status: 403 }, failing("upstream_auth", "status 403"), "refused"],
    ["the call is refused", listed, failing("upstream_auth", "status 401: invalid_api_key"), "refused"],
    ["the account has no credit", listed, failing("upstream_auth", "status 429: insufficient_quota"), "no_credit"],
    ["the call is late", listed, failing("upstream_timeout", "not done within 60000 ms"), "timed_out"],
    ["the catalog has no model to call", { status: 404 }, null, "unproven"],
  ];
  test.each(cases)("%s", async (_, answer, call, outcome) => {
    expect((await trial(() => answer, { call })).outcome as string).toBe(outcome);
  });
});

describe("what is not the key's fault is not blamed on it", () => {
  const cases: [string, Answer, string][] = [
    ["no answer in time", new DeadlineError("late"), "timed_out"],
    ["no connection", new Error("ENOTFOUND"), "unreachable"],
    ["a rate limit", { status: 429, body: { error: { code: "rate_limit_exceeded" } } }, "rate_limited"],
    ["an account without credit", { status: 402, body: { error: { message: "Insufficient Balance" } } }, "no_credit"],
    ["an error of the provider", { status: 503 }, "failed"],
    [
      "OpenAI's list of countries",
      { status: 403, body: { error: { code: "unsupported_country_region_territory" } } },
      "not_served_here",
    ],
    ["OpenAI's data residency", { status: 401, body: { error: { code: "incorrect_hostname" } } }, "other_region"],
  ];
  test.each(cases)("%s", async (_, answer, outcome) => {
    const tried = await trial(() => answer, { call: never });
    expect(tried.outcome as string).toBe(outcome);
    expect(tried.message).not.toEndWith(".");
  });

  test("Google's list of countries", async () => {
    const body = {
      error: { code: 400, message: "User location is not supported for the API use.", status: "FAILED_PRECONDITION" },
    };
    const { outcome } = await trial(() => ({ status: 400, body }), { entry: { format: "google" }, call: never });
    expect(outcome).toBe("not_served_here");
  });
});

describe("a refused key is tried at the vendor's other regions", () => {
  const region = { name: "China", base_url: "https://acme.cn/v1", source: "https://acme.example/docs", seen: "2026-11-29" };
  const entry = { regions: [region] };

  test("one that accepts it is named", async () => {
    const { outcome, message } = await trial(({ host, key }) => (host === "acme.cn" && key === good ? listed : refused), {
      entry,
    });
    expect(outcome).toBe("other_region");
    expect(message).toStartWith(
      "The key is right, but for another region of Acme: acme.cn (China) takes it, acme.example does not.",
    );
  });

  test("a list that everyone gets, or silence, proves nothing there", async () => {
    for (const elsewhere of [listed, new Error("ENOTFOUND")]) {
      const { outcome } = await trial(({ host }) => (host === "acme.cn" ? elsewhere : refused), { entry });
      expect(outcome).toBe("refused");
    }
  });

  test("an accepted key stays with its provider", async () => {
    const { asked } = await trial(byKey, { entry });
    expect(asked.join()).not.toContain("acme.cn");
  });
});
