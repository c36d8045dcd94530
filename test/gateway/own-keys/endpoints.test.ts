/** Embeddings and completions on a workspace's own provider key. */
import { beforeAll, expect, test } from "bun:test";
import { openEmbeddingStage, type EmbeddingStage } from "../../support/gateway/embedding-stage.ts";
import { expectExactLedger } from "../../support/gateway/exact-ledger.ts";
import { keysOf } from "../../support/gateway/own-key-stage.ts";
import { embeddings } from "../../support/providers/embedding-answers.ts";
import { chat, error } from "../../support/providers/stub-answers.ts";

const own = "sk-own-for-every-endpoint";
let on: EmbeddingStage;
beforeAll(async () => {
  on = await openEmbeddingStage();
  await on.fleet.runnable("stub/model");
}, 60_000);

test("embeddings and completions run on the own key, cost nothing, and name it where the provider refuses it", async () => {
  const { workspace, keys } = await on.fleet
    .operator()
    .customer({ credit: "1", earlyAccess: ["embeddings", "completions", "own_keys"] });
  const key = keys[0]?.key ?? "";
  on.provider.answer(chat("Hello"));
  await on.fleet.operator().call("POST", "/provider-keys", { workspace, provider: "stub", key: own });
  const complete = (): Promise<Response> =>
    fetch(`${on.fleet.url()}/gpt/v1/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "stub/model", prompt: "Hello", usage: { include: true } }),
    });
  const completed = await complete();
  expect(completed.status).toBe(200);
  const { usage } = (await completed.json()) as { usage: Record<string, unknown> };
  expect(usage).toMatchObject({ cost: 0, cost_details: { cost_usd: "0.000000000" } });
  expect(keysOf(on.provider).at(-1)).toBe(own);
  on.provider.answer(embeddings());
  const embedded = await on.post({ model: "stub/embed", input: ["one", "two"] }, { key });
  expect(embedded.status).toBe(200);
  await embedded.text();
  expect(keysOf(on.provider).at(-1)).toBe(own);
  on.provider.answer(error(401));
  for (const refused of [await complete(), await on.post({ model: "stub/embed", input: "one" }, { key })]) {
    expect(refused.status).toBe(502);
    expect((await refused.json()) as unknown).toMatchObject({
      error: { code: "upstream_auth", message: "Stub refused the workspace's own key for stub" },
    });
  }
  const rows = await expectExactLedger(on.fleet.operator(), { workspace }, { credit: "1", generations: 4, costNano: 0n });
  for (const row of rows as unknown as Record<string, unknown>[])
    expect(row).toMatchObject({ own_key: true, reserved_usd: "0.000000000" });
});
