/** "First problem wins": of two broken rules the earlier one is answered, and nothing is charged before the provider is called. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Fleet } from "../../support/servers/fleet.ts";
import { startStubFleet } from "../../support/servers/stub-fleet.ts";
import type { Customer } from "../../support/operator.ts";
import { chat, outcomeOf } from "../../support/gateway/requests.ts";
import { until } from "../../support/until.ts";

/** The rules in the specification's order. */
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
  let fleet: Fleet;
  /** What was refused to whom. */
  const refused: { customer: Customer; answer: string }[] = [];

  beforeAll(async () => {
    ({ fleet } = await startStubFleet());
  }, 30_000);

  // The checks run one after the other, so their order is that of neighbours.
  for (const [index, first] of rules.entries()) {
    const [next, afterNext] = rules.slice(index + 1);
    // One request names one model.
    const seconds = first.name === "rate" ? [next, afterNext] : [first.name === "unknown model" ? afterNext : next];
    for (const second of seconds) {
      if (second === undefined) continue;
      test(`the gateway checks ${first.name} before ${second.name}`, async () => {
        const outcome = await broken(new Set([first.name, second.name]));
        expect(`${outcome.status} ${outcome.code}`).toBe(first.answer);
        expect(outcome.generation === null).toBe(true);
        expect(outcome.headers.has("x-request-id")).toBe(false);
        refused.push({ customer: outcome.customer, answer: first.answer });
      });
    }
  }

  test("a request that breaks only the last rule gets the provider's failure", async () => {
    const outcome = await broken(new Set(["provider"]));
    expect(`${outcome.status} ${outcome.code}`).toBe("502 upstream_error");
    expect(outcome.generation).toMatch(/^gen-[a-z2-7]{26}$/);
  });

  test("each refusal is listed and counted for its key, with the message that was answered; a wrong key is counted alone", async () => {
    const operator = fleet.operator();
    const listOf = async ({ workspace }: Customer) => (await operator.call("GET", `/refusals?workspace=${workspace}`))["data"];
    const known = refused.filter(({ answer }) => answer !== "401 invalid_api_key");
    const last = known.at(-1);
    await until(async () => last !== undefined && JSON.stringify(await listOf(last.customer)) !== "[]");
    for (const { customer, answer } of known) {
      const [status, code] = answer.split(" ");
      const message = expect.stringMatching(/^\S.*\S$/);
      const row = { key_id: customer.keys[0]?.id, status: Number(status), code, message, endpoint: "chat" };
      expect(await listOf(customer)).toEqual([expect.objectContaining(row)]);
      const counted = await operator.call("GET", `/refusals/counts?workspace=${customer.workspace}&by=key,day`);
      expect(counted).toMatchObject({ calls: 1, data: [{ key_id: customer.keys[0]?.id, code, calls: 1 }] });
    }
    const wrong = refused.filter(({ answer }) => answer === "401 invalid_api_key");
    for (const { customer } of wrong) expect(await listOf(customer)).toEqual([]);
    const all = await operator.call("GET", "/refusals/counts?code=invalid_api_key&by=key");
    expect(all).toMatchObject({ data: [{ key_id: null, key_name: null, member: null, code: "invalid_api_key" }] });
    expect(Number(all["calls"])).toBeGreaterThanOrEqual(wrong.length);
  });

  /** Sends a request that breaks only these rules. */
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
    const outcome = await outcomeOf(
      chat({ url: fleet.url(), key: wanted.has("key") ? `${key.slice(0, -64)}${"0".repeat(64)}` : key, body: bodyFor(wanted) }),
    );
    return { ...outcome, customer };
  }

  /** Spends exactly a cent by a request of 9,918 bytes, and waits until it is settled. */
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
    model: wanted.has("unknown model") ? "nobody/nothing" : wanted.has("uncallable model") ? "keyless/model" : "sandbox/echo",
    messages: [{ role: "user", content }],
    ...(wanted.has("field") ? { temperature: 3 } : {}),
  };
}
