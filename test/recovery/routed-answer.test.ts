/** A process is killed while the second model of a routed request answers: its next start charges that model. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Fleet } from "../support/servers/fleet.ts";
import { chat } from "../support/gateway/requests.ts";
import { startProviderStub } from "../support/providers/provider-stub.ts";
import { chat as answer, error } from "../support/providers/stub-answers.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

test("after a kill -9 the model that was answering is charged and logged, beside the requested one", async () => {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await temporaryFolder());
  const dataDir = join(path, "data");
  const [failing, answering] = [stack.use(await startProviderStub()), stack.use(await startProviderStub())];
  const at = (provider: string, price: string) => ({
    provider,
    upstream_model: "m",
    prices_per_1m_usd: { input: price, output: price },
  });
  const catalogDir = await writeCatalog(join(path, "catalog"), {
    providers: [
      stubProvider({ id: "failing", base_url: failing.url }),
      stubProvider({ id: "answering", base_url: answering.url }),
    ],
    models: {
      stub: [
        stubModel({ id: "stub/one", routes: [at("failing", "100.00")] }),
        stubModel({ id: "stub/two", routes: [at("answering", "3.00")] }),
      ],
    },
  });
  const plan = { services: null, dataDir, catalogDir, environment: { [stubKeyEnv]: "sk-stub" } };
  const first = stack.use(await Fleet.start(plan));
  const { workspace, keys } = await first.operator().customer({ credit: "1" });
  await first.operator().call("PATCH", `/workspaces/${workspace}`, { early_access: ["routing"] });
  await first.runnable(["stub/one", "stub/two"]);
  failing.answer(error(500));
  answering.answer(answer("", { pieces: Array.from({ length: 200 }, () => "some words "), gapMs: 100 }));
  const body = { model: "stub/one", models: ["stub/two"], stream: true };
  const response = await chat({ url: first.url(), key: keys[0]?.key ?? "", body });
  expect(response.headers.get("x-route")).toBe("answering/stub/two");
  // The test reads the answer: the runtime may collect an unread one, and the gateway then sees a client that has left.
  const reading = response.text().catch(() => "");
  // The first such line marks the call's beginning; a later one counts tokens of the answer.
  await until(() =>
    Promise.resolve(/"delivered":\[\["[^"]+",\d+,\d+,\d+,[1-9]\d*\]\].*"model":"stub\/two"/.test(spoolOf(dataDir))),
  );
  await first.gateways[0]?.process.kill();
  await reading;

  const second = stack.use(await Fleet.start({ ...plan, inTest: true }));
  const row = async () => (await second.operator().log(`workspace=${workspace}`))[0];
  await until(async () => (await row()) !== undefined);
  const logged = { prompt_tokens: 0, completion_tokens: 0, ...(await row()) };
  expect(logged).toMatchObject({ model: "stub/two", requested_model: "stub/one", provider: "answering", status: 500 });
  const tokens = logged.prompt_tokens + logged.completion_tokens;
  expect(logged.completion_tokens).toBeGreaterThan(0);
  expect(logged).toMatchObject({ cost_usd: ((tokens * 3) / 1_000_000).toFixed(9) });
  expect(await second.operator().verify()).toMatchObject({ ok: true });
}, 60_000);

function spoolOf(dataDir: string): string {
  const files = [...new Bun.Glob("**/*.jsonl").scanSync(dataDir)];
  return files.map((file) => readFileSync(join(dataDir, file), "utf8")).join("");
}
