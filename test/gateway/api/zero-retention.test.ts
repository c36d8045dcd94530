/** A workspace with zero data retention is never served by a provider that retains data, not even as a fallback. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Fleet } from "../../support/servers/fleet.ts";
import { startProviderStub, type ProviderStub } from "../../support/providers/provider-stub.ts";
import { chat, outcomeOf, type Outcome } from "../../support/gateway/requests.ts";
import { error } from "../../support/providers/stub-answers.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const stack = new AsyncDisposableStack();
const prices_per_1m_usd = { input: "1.00", output: "2.00" };
let forgetting: ProviderStub;
let keeping: ProviderStub;
let fleet: Fleet;

beforeAll(async () => {
  forgetting = stack.use(await startProviderStub());
  keeping = stack.use(await startProviderStub());
  const folder = stack.use(await temporaryFolder());
  const catalogDir = await writeCatalog(folder.path, {
    providers: [
      stubProvider({ id: "forgetting", base_url: forgetting.url, zero_data_retention: true }),
      stubProvider({ id: "keeping", base_url: keeping.url, zero_data_retention: false }),
    ],
    models: {
      stub: [
        stubModel({
          id: "stub/both",
          routes: ["forgetting", "keeping"].map((provider) => ({ provider, upstream_model: "m", prices_per_1m_usd })),
        }),
        stubModel({ id: "stub/kept", routes: [{ provider: "keeping", upstream_model: "k", prices_per_1m_usd }] }),
      ],
    },
  });
  fleet = stack.use(await Fleet.start({ services: null, catalogDir, environment: { [stubKeyEnv]: "sk-stub" } }));
  await fleet.runnable("stub/both");
  await fleet.runnable("stub/kept");
  forgetting.answer(error(500));
}, 60_000);
afterAll(() => stack.disposeAsync());

async function ask(model: string, zeroDataRetention: boolean): Promise<Outcome> {
  const { workspace, keys } = await fleet.operator().customer({ credit: "1" });
  await fleet.operator().call("PATCH", `/workspaces/${workspace}`, { zero_data_retention: zeroDataRetention });
  return outcomeOf(chat({ url: fleet.url(), key: keys[0]?.key ?? "", body: { model } }));
}

test("without zero data retention the gateway retries a failed call at the other provider", async () => {
  const calls = keeping.calls.length;
  expect(await ask("stub/both", false)).toMatchObject({ status: 200 });
  expect(keeping.calls.length).toBe(calls + 1);
});

test("with zero data retention the gateway retries a failed call only at the same provider", async () => {
  const [kept, forgotten] = [keeping.calls.length, forgetting.calls.length];
  expect(await ask("stub/both", true)).toMatchObject({ status: 502, code: "upstream_error" });
  expect(keeping.calls.length).toBe(kept);
  expect(forgetting.calls.length).toBe(forgotten + 2);
});

test("with zero data retention a model whose providers all retain data is unavailable, and the gateway calls no provider", async () => {
  const kept = keeping.calls.length;
  expect(await ask("stub/kept", true)).toMatchObject({ status: 503, code: "model_unavailable", generation: null });
  expect(keeping.calls.length).toBe(kept);
});
