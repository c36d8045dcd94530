/** "First problem wins": every two rules broken at once answer with the earlier one, and cost nothing before the provider. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Fleet } from "../../support/servers/fleet.ts";
import type { Customer } from "../../support/operator.ts";
import { chat, outcomeOf } from "../../support/gateway/requests.ts";
import { until } from "../../support/until.ts";

/** In the specification's order. */
const rules = [
  { name: "key", answer: "401 invalid_api_key" },
  { name: "platform", answer: "403 gateway_disabled" },
  { name: "size", answer: "413 request_too_large" },
  { name: "field", answer: "400 invalid_request" },
  { name: "rate", answer: "429 rate_limited" },
  { name: "unknown model", answer: "404 model_not_found" },
  { name: "uncallable model", answer: "503 model_unavailable" },
  { name: "credit", answer: "402 insufficient_credit" },
  { name: "key limit", answer: "402 key_spend_limit_exceeded" },
  { name: "workspace limit", answer: "402 account_spend_limit_exceeded" },
  { name: "provider", answer: "502 upstream_error" },
] as const;
type Rule = (typeof rules)[number]["name"];

const cent = "0.01";

describe("order of checks", () => {
  const stack = new AsyncDisposableStack();
  let fleet: Fleet;

  beforeAll(async () => {
    fleet = stack.use(await Fleet.start({ services: null }));
  }, 30_000);
  afterAll(() => stack.disposeAsync());

  for (const [index, first] of rules.entries()) {
    for (const second of rules.slice(index + 1)) {
      // One request names one model.
      if (first.name === "unknown model" && second.name === "uncallable model") continue;
      test(`${first.name} before ${second.name}`, async () => {
        const outcome = await broken(new Set([first.name, second.name]));
        expect(`${outcome.status} ${outcome.code}`).toBe(first.answer);
        expect(outcome.generation === null).toBe(first.name !== "provider");
        expect(outcome.headers.has("x-request-id")).toBe(false);
      });
    }
  }

  test("the last rule alone is answered by the provider's failure", async () => {
    const outcome = await broken(new Set(["provider"]));
    expect(`${outcome.status} ${outcome.code}`).toBe("502 upstream_error");
    expect(outcome.generation).toMatch(/^gen-[a-z2-7]{26}$/);
  });

  /** A request that breaks these rules and no other. */
  async function broken(wanted: Set<Rule>) {
    const customer = await fleet.operator().customer({
      credit: wanted.has("credit") ? cent : "10",
      requestsPerMinute: wanted.has("rate") ? 1 : 60,
      ...(wanted.has("key limit") ? { keyLimit: cent } : {}),
      ...(wanted.has("workspace limit") ? { spendLimit: cent } : {}),
    });
    if (["credit", "rate", "key limit", "workspace limit"].some((name) => wanted.has(name as Rule))) await spendACent(customer);
    if (wanted.has("platform")) await fleet.operator().call("PATCH", `/workspaces/${customer.workspace}`, { enabled: false });
    const key = customer.keys[0]?.key ?? "";
    return outcomeOf(
      chat({ url: fleet.url(), key: wanted.has("key") ? `${key.slice(0, -64)}${"0".repeat(64)}` : key, body: bodyFor(wanted) }),
    );
  }

  /** One request that reserves exactly a cent, by its 9,918 bytes, is charged it, and settled. */
  async function spendACent({ workspace, keys }: Customer): Promise<void> {
    const content = "sandbox: usage=9998,1".padEnd(9_918);
    const body = { model: "sandbox/echo", max_tokens: 1, messages: [{ role: "user", content }] };
    const { status } = await outcomeOf(chat({ url: fleet.url(), key: keys[0]?.key ?? "", body }));
    expect(status).toBe(200);
    await until(async () =>
      (await fleet.operator().log(`workspace=${workspace}`)).some(({ cost_usd }) => cost_usd === "0.010000000"),
    );
    await until(async () => (await fleet.operator().show(workspace)).reserved_usd === "0.000000000");
  }
});

function bodyFor(wanted: Set<Rule>): Record<string, unknown> {
  const content = wanted.has("size") ? "x".repeat(8 * 1024 * 1024) : wanted.has("provider") ? "sandbox: status=500" : "Hello";
  return {
    model: wanted.has("unknown model") ? "nobody/nothing" : wanted.has("uncallable model") ? "weir/zero" : "sandbox/echo",
    messages: [{ role: "user", content }],
    ...(wanted.has("field") ? { temperature: 3 } : {}),
  };
}
