/** A workspace with zero data retention is never served by a provider that retains data, not even as a fallback. */
import { beforeAll, expect, test } from "bun:test";
import { chat, outcomeOf, type Outcome } from "../../support/gateway/requests.ts";
import type { ProviderStub } from "../../support/providers/provider-stub.ts";
import { error } from "../../support/providers/stub-answers.ts";
import type { Fleet } from "../../support/servers/fleet.ts";
import { startStubFleet } from "../../support/servers/stub-fleet.ts";

let forgetting: ProviderStub;
let keeping: ProviderStub;
let fleet: Fleet;

beforeAll(async () => {
  const shared = await startStubFleet();
  ({ fleet } = shared);
  forgetting = shared.at("forgetting");
  keeping = shared.at("keeping");
  forgetting.answer(error(500));
}, 60_000);

async function ask(model: string, zeroDataRetention: boolean): Promise<Outcome> {
  const { workspace, keys } = await fleet.operator().customer({ credit: "1" });
  await fleet.operator().call("PATCH", `/workspaces/${workspace}`, { zero_data_retention: zeroDataRetention });
  return outcomeOf(chat({ url: fleet.url(), key: keys[0]?.key ?? "", body: { model } }));
}

test("without zero data retention the gateway retries a failed call at the other provider", async () => {
  const calls = keeping.calls.length;
  expect(await ask("retention/both", false)).toMatchObject({ status: 200 });
  expect(keeping.calls.length).toBe(calls + 1);
});

test("with zero data retention the gateway retries a failed call only at the same provider", async () => {
  const [kept, forgotten] = [keeping.calls.length, forgetting.calls.length];
  expect(await ask("retention/both", true)).toMatchObject({ status: 502, code: "upstream_error" });
  expect(keeping.calls.length).toBe(kept);
  expect(forgetting.calls.length).toBe(forgotten + 2);
});

test("with zero data retention a model whose providers all retain data is unavailable, and the gateway calls no provider", async () => {
  const kept = keeping.calls.length;
  expect(await ask("retention/kept", true)).toMatchObject({ status: 503, code: "model_unavailable", generation: null });
  expect(keeping.calls.length).toBe(kept);
});
