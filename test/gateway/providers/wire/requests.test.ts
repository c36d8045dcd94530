import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { readCatalog } from "../../../../src/gateway/models/catalog.ts";
import { reasoningEfforts, type Route, type WireFormatName } from "../../../../src/gateway/models/model.ts";
import type { ModelEntry } from "../../../../src/gateway/models/schema.ts";
import { wireFormats } from "../../../../src/gateway/providers/registry.ts";
import { fittedEffort } from "../../../../src/gateway/providers/wire/requests.ts";
import { testGeneration } from "../../../support/providers/call.ts";
import { aModel, aRoute } from "../../../support/providers/models.ts";

const shipped = await readCatalog(join(import.meta.dir, "../../../../catalog-data"), { sandbox: false });

function bodyFor(route: Route, effort?: string, fields: object = {}) {
  const chat = {
    model: "stub/model",
    messages: [{ role: "user", content: "Hello" }],
    ...(effort && { reasoning_effort: effort }),
    ...fields,
  };
  const call = { generation: testGeneration, route, chat, maxOutputTokens: 64_000, streamed: false };
  return JSON.parse(wireFormats[route.format]?.format.encode(call).body ?? "{}");
}

/** What the provider gets in place of the effort; undefined: nothing. */
function sent(route: Route, effort?: string): unknown {
  const body = bodyFor(route, effort);
  switch (route.format) {
    case "openai-responses":
      return body.reasoning?.effort;
    case "google":
      return body.generationConfig.thinkingConfig?.thinkingLevel;
    case "anthropic":
      return body.thinking?.type === "disabled" ? "none" : body.output_config?.effort;
    default:
      return body.reasoning_effort;
  }
}

const all = (route: Route): unknown[] => reasoningEfforts.map((effort) => sent(route, effort));

describe("an effort that a model does not take becomes the next lower one that it takes, else its lowest", () => {
  const middle: Partial<ModelEntry> = { efforts: ["low", "high"] };

  test.each([
    ["openai", ["low", "low", "low", "low", "high", "high", "high"]],
    ["openai-responses", ["low", "low", "low", "low", "high", "high", "high"]],
    ["google", ["LOW", "LOW", "LOW", "LOW", "HIGH", "HIGH", "HIGH"]],
    ["anthropic", ["none", "low", "low", "low", "high", "high", "high"]],
  ] satisfies [WireFormatName, string[]][])("in the format %s", (format, expected) => {
    const route = aRoute({ format }, middle);
    expect(all(route)).toEqual(expected);
    expect(sent(route)).toBeUndefined();
  });

  test.each(["openai", "openai-responses"] as const)("a model without the fact gets it as it is in the format %s", (format) => {
    expect(all(aRoute({ format }))).toEqual([...reasoningEfforts]);
  });

  test("a route has its own before those of its model", () => {
    const prices_per_1m_usd = { input: "1", output: "1" };
    const routes = [
      { provider: "one", upstream_model: "m", prices_per_1m_usd, efforts: ["none" as const, "high" as const] },
      { provider: "two", upstream_model: "m", prices_per_1m_usd },
    ];
    expect(aModel({ ...middle, routes }).routes.map((route) => sent(route, "minimal"))).toEqual(["none", "low"]);
  });

  test("no model gets an effort where the request has none", () => {
    expect(fittedEffort(undefined, ["high"])).toBeUndefined();
  });
});

describe("the reasoning is told if the client asked for an effort", () => {
  test.each([
    ["none", false],
    ["minimal", true],
  ])("at a Gemini that always thinks, with %s: %p", (effort, includeThoughts) => {
    const route = aRoute({ format: "google" }, { efforts: ["low", "medium", "high"] });
    expect(bodyFor(route, effort).generationConfig.thinkingConfig).toEqual({ thinkingLevel: "LOW", includeThoughts });
  });

  test.each([
    [["low", "high"], "none", { effort: "low" }],
    [["none", "high"], "minimal", { effort: "none" }],
    [["none", "high"], "max", { effort: "high", summary: "auto" }],
  ] as const)("in responses, of a model with %p, at %s", (efforts, effort, reasoning) => {
    const route = aRoute({ format: "openai-responses" }, { efforts: [...efforts] });
    expect(bodyFor(route, effort).reasoning).toEqual(reasoning);
  });
});

describe("a model that samples without reasoning alone", () => {
  const sampling = { temperature: 0.2, top_p: 0.9 };
  const cases = (["openai", "openai-responses"] as const).flatMap((format) => [
    { format, effort: undefined, expected: sampling },
    { format, effort: "none", expected: sampling },
    { format, effort: "minimal", expected: sampling },
    { format, effort: "high", expected: {} },
  ]);

  test.each(cases)("gets the sampling fields unless it reasons: $format, $effort", ({ format, effort, expected }) => {
    const route = aRoute({ format }, { efforts: ["none", "low", "high"], samples_without_reasoning: true });
    const { temperature, top_p } = bodyFor(route, effort, sampling);
    expect({ ...(temperature && { temperature }), ...(top_p && { top_p }) }).toEqual(expected);
  });

  test.each(["openai", "openai-responses"] as const)("other models get them with any effort: %s", (format) => {
    expect(bodyFor(aRoute({ format }, { efforts: ["none", "high"] }), "high", sampling)).toMatchObject(sampling);
  });
});

describe("the shipped catalog knows what its models refuse", () => {
  test.each([
    ["mistral/mistral-small-2603", "none none none none high high high"],
    ["mistral/mistral-medium-2604", "none none none none high high high"],
    ["mistral/mistral-medium-3.5", "none none none none high high high"],
    ["google/gemini-3.1-pro-preview", "LOW LOW LOW MEDIUM HIGH HIGH HIGH"],
    ["google/gemini-3.1-pro-preview-customtools", "LOW LOW LOW MEDIUM HIGH HIGH HIGH"],
    ["google/gemini-3-flash-preview", "MINIMAL MINIMAL LOW MEDIUM HIGH HIGH HIGH"],
    ["google/gemini-4-argon", "LOW LOW LOW MEDIUM HIGH HIGH HIGH"],
    ["google/gemini-4-hydrogen", "LOW LOW LOW MEDIUM HIGH XHIGH XHIGH"],
    ["openai/gpt-5.1", "none none low medium high high high"],
    ["openai/gpt-5.2", "none none low medium high xhigh xhigh"],
    ["openai/gpt-5.4-mini", "none none low medium high xhigh xhigh"],
    ["openai/gpt-5.5", "none none low medium high xhigh xhigh"],
    ["openai/gpt-5.6-sol", "none none low medium high xhigh max"],
    ["openai/gpt-6-astra", "low low low medium high xhigh max"],
    ["openai/gpt-6.1-sol", "low low low medium high xhigh max"],
    ["openai/gpt-6.1-terra", "none none low medium high xhigh max"],
    ["openai/gpt-6-luna", "none none low medium high xhigh max"],
    ["x-ai/grok-4.3", "none none low medium high high high"],
    ["x-ai/grok-4.5", "low low low medium high high high"],
    ["x-ai/grok-4.6", "low low low medium high xhigh xhigh"],
    ["openai/gpt-oss-120b", "low low low medium high high high"],
    ["openai/gpt-oss-20b", "low low low medium high high high"],
    ["meta/muse-spark-1.1", "minimal minimal low medium high xhigh xhigh"],
    ["meta/muse-spark-1.2", "minimal minimal low medium high xhigh xhigh"],
    ["meta/muse-spark-1.3", "minimal minimal low medium high xhigh xhigh"],
    ["moonshotai/kimi-k3", "low low low low high high max"],
    ["moonshotai/kimi-k3-fast", "low low low low high high max"],
    ["z-ai/glm-5.3", "low low low low high high max"],
    ["z-ai/glm-5.3-flash", "low low low low high high max"],
    ["z-ai/glm-5.3-fast", "low low low low high high max"],
    ["z-ai/glm-5.2-fast", "none none none none high high max"],
    ["fireworks/ember-1", "none none low medium high xhigh max"],
    ["stepfun/step-3.5-flash-2603", "low low low low high high high"],
    ["stepfun/step-5-preview", "low low low medium high high high"],
    ["anthropic/claude-sonnet-4-6", "none low low medium high high max"],
  ])("%s gets from none to max: %s", (id, expected) => {
    const routes = shipped.models.get(id)?.routes ?? [];
    expect(routes.length).toBeGreaterThan(0);
    for (const route of routes) expect(all(route).join(" ")).toBe(expected);
  });

  test.each([
    ["z-ai/glm-5.2", "zai", reasoningEfforts.join(" ")],
    ["z-ai/glm-5.2", "baseten", "none none none none high high max"],
    ["z-ai/glm-5.2", "venice", "none none none none high high max"],
    ["deepseek/deepseek-v4-flash", "deepinfra", reasoningEfforts.join(" ")],
    ["deepseek/deepseek-v4-flash", "venice", "none minimal low medium high xhigh xhigh"],
  ])("%s gets from none to max at %s: %s", (id, provider, expected) => {
    const route = shipped.models.get(id)?.routes.find((one) => one.provider.id === provider);
    if (!route) throw new Error(`${provider} has no route of ${id}`);
    expect(all(route).join(" ")).toBe(expected);
  });
});
