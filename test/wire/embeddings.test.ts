/** Embeddings by the official package with only address and key changed, in both modes. */
import { beforeAll, describe, expect, test } from "bun:test";
import type OpenAI from "openai";
import { expectExactLedger } from "../support/gateway/exact-ledger.ts";
import { followed, jsonOf, problems } from "../support/described.ts";
import type { Customer } from "../support/operator.ts";
import { modes, playable, stage, type Mode, type Stage } from "./stage.ts";

for (const mode of modes) describe.skipIf(!playable(mode))(mode, () => embeddings(mode));

const model = "sandbox/embed";

function embeddings(mode: Mode): void {
  let on: Stage;
  let customer: Customer;
  let client: OpenAI;

  beforeAll(async () => {
    on = await stage(mode);
    customer = await on.fleet.operator().customer({ credit: "1", earlyAccess: ["embeddings"] });
    client = on.client(customer.keys[0]?.key ?? "");
  }, 90_000);

  test("the package reads the same numbers with and without encoding_format", async () => {
    const input = ["Hello", "World"];
    const asked = await client.embeddings.create({ model, input });
    const floats = await client.embeddings.create({ model, input, encoding_format: "float" });
    const { data } = await client.embeddings.create({ model, input, encoding_format: "base64" });
    expect(asked.data.map(({ embedding }) => embedding.length)).toEqual([64, 64]);
    // The package reads base64 as 32-bit floats, which have more digits as 64-bit ones.
    expect(floats.data.map(({ embedding }) => embedding.map(Math.fround))).toEqual(
      asked.data.map(({ embedding }) => [...embedding]),
    );
    expect(floats).toMatchObject({ object: "list", model, usage: { prompt_tokens: 4, total_tokens: 4 } });
    expect(data.map(({ embedding }) => typeof embedding)).toEqual(["string", "string"]);
    for (const { embedding } of asked.data) expect(Math.hypot(...embedding)).toBeCloseTo(1, 5);
    expect(asked.data[0]?.embedding).not.toEqual(asked.data[1]?.embedding);
  });

  test("the package asks for fewer dimensions, and for token ids", async () => {
    const { data } = await client.embeddings.create({ model, input: "Hello", dimensions: 8 });
    expect(data[0]?.embedding).toHaveLength(8);
    expect((await client.embeddings.create({ model, input: [[1, 2], [3]] })).usage.total_tokens).toBe(3);
  });

  test("requests and answers match the OpenAPI document", async () => {
    const document = jsonOf(await (await on.fleet.operator().send("/openapi.json")).json());
    const { post } = jsonOf(jsonOf(document["paths"])["/gpt/v1/embeddings"]);
    const schemaOf = (described: unknown): unknown => jsonOf(jsonOf(jsonOf(described)["content"])["application/json"])["schema"];
    const off = (await on.fleet.operator().customer({ credit: "1" })).keys[0]?.key;
    const key = customer.keys[0]?.key;
    const full = { model, input: ["Hello", "World"], dimensions: 8, input_type: "query", user: "me", encoding_format: "float" };
    const requests: [status: number, key: string | undefined, body: Record<string, unknown>][] = [
      [200, key, full],
      [200, key, { model, input: [[1, 2], [3]], encoding_format: "base64" }],
      [400, key, { model, input: "" }],
      [403, off, { model, input: "Hello" }],
      [404, key, { model: "acme/none", input: "Hello" }],
      [502, key, { model, input: "sandbox: status=500" }],
    ];
    for (const [status, apiKey, body] of requests) {
      const response = await fetch(`${on.fleet.url()}/gpt/v1/embeddings`, {
        method: "POST",
        headers: { authorization: `Bearer ${apiKey}` },
        body: JSON.stringify(body),
      });
      expect(response.status).toBe(status);
      if (status === 200) expect(problems(document, schemaOf(jsonOf(post)["requestBody"]), body)).toEqual([]);
      const described = followed(document, jsonOf(jsonOf(post)["responses"])[String(status)]);
      expect(problems(document, schemaOf(described), await response.json())).toEqual([]);
      const named = Object.keys(jsonOf(described["headers"] ?? {}));
      for (const name of ["x-generation-id", "x-ratelimit-limit-requests"])
        if (response.headers.has(name)) expect(named).toContain(name);
    }
  });

  test("each request is one generation of the endpoint, charged to the token", async () => {
    const own = await on.fleet.operator().customer({ credit: "1", earlyAccess: ["embeddings"] });
    const made = on.client(own.keys[0]?.key ?? "");
    const { response } = await made.embeddings.create({ model, input: ["Hello", "World"] }).withResponse();
    await made.embeddings.create({ model, input: "sandbox: no_usage" });
    const [estimated, counted] = await expectExactLedger(on.fleet.operator(), own, {
      credit: "1",
      generations: 2,
      costNano: 9_000n,
    });
    expect(counted).toMatchObject({
      generation_id: response.headers.get("x-generation-id") ?? "",
      endpoint: "embeddings",
      prompt_tokens: 4,
      completion_tokens: 0,
      reserved_usd: "0.000042000",
      cost_usd: "0.000004000",
      usage_estimated: false,
    });
    expect(estimated).toMatchObject({ endpoint: "embeddings", prompt_tokens: 5, usage_estimated: true });
  });
}
