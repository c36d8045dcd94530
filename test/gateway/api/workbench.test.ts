/** A member is the caller of a request in the Workbench: what holds for a key holds for the member, without a key and its limit. */
import { beforeAll, expect, test } from "bun:test";
import type { Customer, LogRow } from "../../support/operator.ts";
import { chat, outcomeOf, tally } from "../../support/gateway/requests.ts";
import { expectExactBalance, expectExactLedger } from "../../support/gateway/exact-ledger.ts";
import type { ProviderStub } from "../../support/providers/provider-stub.ts";
import { chat as answer } from "../../support/providers/stub-answers.ts";
import type { Fleet } from "../../support/servers/fleet.ts";
import { startStubFleet } from "../../support/servers/stub-fleet.ts";
import { until } from "../../support/until.ts";
import { workbench, type WorkbenchPlan } from "../../support/gateway/workbench.ts";

const owner = "owner@example.test";
/** 10 input tokens at 1 USD and 4 output tokens at 2 USD per 1M tokens. */
const charged = { cost: 0.000018, cost_details: { cost_usd: "0.000018000" } };

let stub: ProviderStub;
let fleet: Fleet;

beforeAll(async () => {
  ({ stub, fleet } = await startStubFleet());
}, 60_000);

/** A workspace with an owner and a member of each other role that matters. */
async function customer(plan: { credit?: string; spendLimit?: string } = {}): Promise<Customer> {
  const made = await fleet.operator().customer({ credit: "1", ...plan });
  for (const role of ["member", "auditor"]) {
    await fleet.operator().call("POST", "/members", { workspace: made.workspace, email: `${role}@example.test`, role });
  }
  return made;
}

type Run = Pick<WorkbenchPlan, "body" | "signal"> & { as?: string | null };

function run({ workspace }: Pick<Customer, "workspace">, { as = owner, ...rest }: Run = {}): Promise<Response> {
  return workbench({ url: fleet.url(), operator: fleet.operator(), workspace, as, ...rest });
}

async function logged({ workspace }: Customer, as: string, query = ""): Promise<LogRow[]> {
  const headers = { authorization: `Bearer ${fleet.operator().token}`, "x-act-as": as };
  const response = await fetch(`${fleet.url()}/api/console/log?workspace=${workspace}${query}`, { headers });
  return ((await response.json()) as { data: LogRow[] }).data;
}

test("a member's answer is that of a key, with its cost, and the log has the member and no key", async () => {
  const made = await customer();
  const whole = await run(made);
  expect(whole.headers.get("x-generation-id")).toMatch(/^gen-/);
  expect(whole.headers.get("x-ratelimit-limit-requests")).toBe("60");
  const body = await whole.json();
  expect(body).toMatchObject({ object: "chat.completion", usage: { total_tokens: 14, ...charged } });
  const ofKey = await (await chat({ url: fleet.url(), key: made.keys[0]?.key ?? "" })).json();
  const { usage: _, ...same } = ofKey as Record<string, unknown>;
  expect(body).toMatchObject({ ...same, id: expect.anything(), created: expect.anything() });
  const [keyRow, row] = await expectExactLedger(fleet.operator(), made, { credit: "1", generations: 2 });
  expect(row).toMatchObject({ key_id: null, member: owner, status: 200, cost_usd: charged.cost_details.cost_usd });
  expect(keyRow).toMatchObject({ key_id: made.keys[0]?.id, member: owner });
});

test("a member's stream ends with its usage and cost", async () => {
  const made = await customer();
  const response = await run(made, { body: { stream: true, stream_options: { include_usage: true } } });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const events = (await response.text()).split("\n\n").filter((event) => event !== "");
  expect(events.pop()).toBe("data: [DONE]");
  expect(JSON.parse(events.pop()?.slice("data: ".length) ?? "")).toMatchObject({ choices: [], usage: charged });
});

test("only members that are no auditors may use the Workbench, and no API key opens it", async () => {
  const made = await customer();
  const outcome = async (sent: Run) => tally([await outcomeOf(run(made, sent))]);
  expect(await outcome({ as: "member@example.test" })).toEqual({ "200": 1 });
  for (const as of ["auditor@example.test", "stranger@example.test", null])
    expect(await outcome({ as })).toEqual({ "403 forbidden": 1 });
  const withKey = { url: fleet.url(), operator: { token: made.keys[0]?.key } as never, workspace: made.workspace, as: owner };
  expect(tally([await outcomeOf(workbench(withKey))])).toEqual({ "401 unauthorized": 1 });
});

test("a request with a mistake gets the inference API's error and costs nothing", async () => {
  const made = await customer();
  const refused = async (body: Run["body"]) => (await (await run(made, { body: body ?? "" })).json()) as { error: object };
  expect((await refused("no JSON")).error).toMatchObject({ type: "invalid_request_error", code: "invalid_request", param: null });
  expect((await refused({ temperature: 3 })).error).toMatchObject({ code: "invalid_request", param: "temperature" });
  expect((await refused({ model: "acme/none" })).error).toMatchObject({ code: "model_not_found", param: "model" });
  expect((await refused(" ".repeat(8 * 1024 * 1024 + 1))).error).toMatchObject({ code: "request_too_large" });
  await expectExactBalance(fleet.operator(), made, { credit: "1", generations: 0 });
});

test("a member may send 60 requests in a minute, apart from the workspace's keys and other members", async () => {
  const made = await customer();
  const outcomes = await Promise.all(Array.from({ length: 65 }, () => outcomeOf(run(made))));
  expect(tally(outcomes)).toEqual({ "200": 60, "429 rate_limited": 5 });
  const refused = await run(made);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({
    error: { message: "Too many requests for this member: it may make 60 requests per minute" },
  });
  expect((await run(made, { as: "member@example.test" })).status).toBe(200);
  expect((await chat({ url: fleet.url(), key: made.keys[0]?.key ?? "" })).status).toBe(200);
});

test("the workspace's credit, spend limit and switch bind a member", async () => {
  const code = async (made: Customer) => (await outcomeOf(run(made, { body: { max_tokens: 100 } }))).code;
  expect(await code(await customer({ credit: "0.00001" }))).toBe("insufficient_credit");
  const limited = await customer({ spendLimit: "0.00001" });
  expect(await code(limited)).toBe("account_spend_limit_exceeded");
  await fleet.operator().call("PATCH", `/workspaces/${limited.workspace}`, { enabled: false, spend_limit_usd: null });
  await until(async () => (await code(limited)) === "gateway_disabled");
});

test("a member who becomes an auditor, leaves or is suspended cannot use the Workbench any more", async () => {
  const made = await customer();
  const { operator } = { operator: fleet.operator() };
  const email = `${crypto.randomUUID()}@example.test`;
  await operator.call("POST", "/members", { workspace: made.workspace, email, role: "member" });
  const status = async () => (await run(made, { as: email })).status;
  expect(await status()).toBe(200);
  await operator.call("PATCH", `/members/${email}`, { workspace: made.workspace, role: "auditor" });
  expect(await status()).toBe(403);
  await operator.call("PATCH", `/members/${email}`, { workspace: made.workspace, role: "member" });
  await operator.call("POST", `/members/${email}/deactivate`, { workspace: made.workspace });
  expect(await status()).toBe(403);
  await operator.call("POST", `/members/${email}/reactivate`, { workspace: made.workspace });
  expect(await status()).toBe(200);
  await operator.call("POST", `/accounts/${email}/suspend`);
  expect(await status()).toBe(403);
});

test("a stream that its member leaves is recorded and charged like a key's", async () => {
  const made = await customer();
  stub.answerOnce(answer("One two three four five six", { gapMs: 50 }));
  const leaving = new AbortController();
  const response = await run(made, { body: { stream: true }, signal: leaving.signal });
  await response.body?.getReader().read();
  leaving.abort();
  const [row] = await expectExactBalance(fleet.operator(), made, { credit: "1", generations: 1 });
  expect(row).toMatchObject({ status: 499, code: "client_gone", key_id: null, member: owner });
  expect(Number(row?.cost_usd)).toBeGreaterThan(0);
});

test("a stream goes on to its end when its workspace is switched off meanwhile, and the next request is refused", async () => {
  const made = await customer();
  stub.answerOnce(answer("One two three four five six", { gapMs: 50 }));
  const streaming = await run(made, { body: { stream: true } });
  await fleet.operator().call("PATCH", `/workspaces/${made.workspace}`, { enabled: false });
  expect(await streaming.text()).toEndWith("data: [DONE]\n\n");
  expect(tally([await outcomeOf(run(made))])).toEqual({ "403 gateway_disabled": 1 });
  const [row] = await expectExactBalance(fleet.operator(), made, { credit: "1", generations: 1 });
  expect(row).toMatchObject({ status: 200, code: null });
});

test("members see their own requests of the Workbench, overseers see all, and the log lists a member's", async () => {
  const made = await customer();
  await (await run(made)).text();
  await (await run(made, { as: "member@example.test" })).text();
  await until(async () => (await logged(made, owner)).length === 2);
  const own = await logged(made, "member@example.test");
  expect(own).toMatchObject([{ key_id: null, member: "member@example.test" }]);
  expect(await logged(made, "auditor@example.test", `&member=${owner}`)).toMatchObject([{ key_id: null, member: owner }]);
  const shown = async (as: string, id: string | undefined) => {
    const headers = { authorization: `Bearer ${fleet.operator().token}`, "x-act-as": as };
    return (await fetch(`${fleet.url()}/api/console/log/${id}?workspace=${made.workspace}`, { headers })).status;
  };
  const [theirs] = await logged(made, owner, `&member=${owner}`);
  expect(await shown("member@example.test", own[0]?.generation_id)).toBe(200);
  expect(await shown("member@example.test", theirs?.generation_id)).toBe(404);
});

test("a member's prompt is stored only where the workspace stores prompts", async () => {
  const made = await customer();
  const stored = async (response: Response) => {
    if (!response.bodyUsed) await response.text();
    const path = `/api/console/prompts/${response.headers.get("x-generation-id")}`;
    return fleet.operator().send(path);
  };
  expect((await stored(await run(made))).status).toBe(404);
  await fleet.operator().call("PATCH", `/workspaces/${made.workspace}`, { prompt_storage: true });
  const parameters = { temperature: 0.5, max_tokens: 9, stop: ["END"] };
  const sent: Response[] = [];
  const found: unknown[] = [];
  // It is written after the answer, and the gateway learns of the switch a moment later.
  await until(async () => {
    sent.push(await run(made, { body: parameters }));
    expect(sent.at(-1)?.status).toBe(200);
    for (const answer of sent) {
      const shown = await stored(answer);
      if (shown.ok) found.push(await shown.json());
    }
    return found.length > 0;
  });
  expect(found[0]).toMatchObject({ parameters });
});
