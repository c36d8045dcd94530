/** The page of the Workbench: who sees it, what it says where no model can be called, its form, and a stored request that begins again. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chatFields } from "../../src/gateway/api/request/chat-fields.ts";
import { choosableModels, formFields, modelOptions } from "../../src/console/pages/inference/workbench/workbench-form.ts";
import type { ModelDetails } from "../../src/gateway/models/listing.ts";
import { ConsoleWorld } from "../support/console.ts";
import { book, settlement } from "../support/gateway/settlements.ts";
import { storePrompt } from "../support/gateway/stored-prompt.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

describe.each(oneDatabase)("the page of the Workbench on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let workspace: string;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    workspace = await world.control.workspace("acme", "1");
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const shown = async (email: string | null) => world.get("/console/w/acme/workbench", await world.signIn(email));

  test("a member gets the page with the addresses that its script asks, and an auditor does not", async () => {
    const { status, text, headers } = await shown("member@acme");
    expect([status, text.match(/data-endpoint="(\/api\/console\/workbench\?workspace=ws-\w+)"/)?.length]).toEqual([200, 2]);
    expect(headers.get("content-security-policy")).toContain("connect-src 'self'");
    expect((await shown("auditor@acme")).status).toBe(403);
  });

  test("the page says why nothing can be run: to the operator, in a switched-off workspace, and without a callable model", async () => {
    expect((await shown(null)).text).toContain("sign in as a member");
    expect((await shown("member@acme")).text).toContain("No model can be called right now");
    await world.control.expect("PATCH", "/workspaces/acme", { body: { enabled: false } });
    expect((await shown("member@acme")).text).toContain("switched off for this workspace");
    await world.control.expect("PATCH", "/workspaces/acme", { body: { enabled: true } });
  });

  test("an admin begins a stored request again, which is recorded as a view; a member and another workspace's admin do not", async () => {
    await world.control.workspace("other");
    await world.control.expect("PATCH", "/workspaces/acme", { body: { prompt_storage: true } });
    const key = await world.control.key("acme", { owner: "member@acme" });
    const request = settlement({ workspace, key: key.id });
    await book(database.sql, request);
    await storePrompt({ ...request, messages: [{ role: "user", content: "Hello" }], parameters: { seed: 7 } }, world.control);
    const again = async (email: string, place = "acme") =>
      world.post(`/console/w/${place}/workbench`, { action: "again", generation: request.generation }, await world.signIn(email));
    const views = async () => (await world.control.list("/audit?workspace=acme&event=prompt.shown")).length;

    const { text: page } = await world.get(`/console/w/acme/requests/${request.generation}`, await world.signIn("admin@acme"));
    expect([page.includes('action="/console/w/acme/workbench"'), await views()]).toEqual([true, 0]);
    const { status, text } = await again("admin@acme");
    expect([status, await views()]).toEqual([200, 1]);
    expect(text).toContain(`data-wanted="${request.model}"`);
    expect(text).toMatch(/<template data-given="\{&#34;messages&#34;:.*&#34;parameters&#34;:\{&#34;seed&#34;:7\}\}">/);
    expect((await again("member@acme")).status).toBe(403);
    expect((await again("admin@other", "other")).status).toBe(404);
    expect((await again("admin@other")).status).toBe(404);
    expect(await views()).toBe(1);
  });
});

const model = (id: string, further: Partial<ModelDetails> = {}) =>
  ({
    id,
    name: id,
    runnable: true,
    prices_per_1m_usd: { input: "3.00", output: "15.00", cache_read: "3.00", cache_write: "3.00" },
    context_length: 200_000,
    supports: ["tools", "seed"],
    default_only: ["temperature"],
    unavailable_message: null,
    ...further,
  }) as ModelDetails;

test("callable chat models are offered before the others, and embeddings models are not", () => {
  const models = [model("a/later", { runnable: false }), model("a/vectors", { kind: "embeddings" }), model("b/now")];
  const { callable, others } = choosableModels(models);
  expect([callable, others].map((all) => all.map(({ id }) => id))).toEqual([["b/now"], ["a/later"]]);
});

test("each model is offered with its prices, its context and what it takes, or with why it cannot be called", () => {
  const later = model("a/<later>", { runnable: false, unavailable_message: "its provider is not configured" });
  const options = String(modelOptions({ callable: [model("b/now")], others: [later] }, "b/now"));
  expect(options).toContain(
    'data-prices="$3.00 in, $15.00 out per 1M" data-context="200K" data-takes="tools seed" data-fixed="temperature" selected>',
  );
  expect(options).toContain('<option value="a/&#60;later&#62;"');
  expect(options).toContain('data-why="Not callable: its provider is not configured"');
});

test("the form has every field of a chat completion that changes an answer; what is left is a label, a default, routing or an older form", () => {
  const taken = chatFields.filter(({ accepts }) => accepts !== "nothing").map(({ name }) => name);
  const elsewhere = {
    labels: ["metadata", "user", "safety_identifier", "prompt_cache_key"],
    defaults: ["service_tier", "modalities", "store", "n"],
    setOtherwise: ["stream", "stream_options", "usage", "max_completion_tokens", "logprobs"],
    older: ["function_call", "functions"],
    asJson: ["logit_bias", "prediction"],
  };
  expect([...formFields, ...Object.values(elsewhere).flat()].toSorted()).toEqual(taken.toSorted());
});
