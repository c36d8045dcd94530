import { describe, expect, test } from "bun:test";
import {
  availabilityOf,
  type AvailabilityFacts,
  modelNotFoundMessage,
  nearestModel,
} from "../../../src/gateway/models/availability.ts";
import type { Model, UnavailableReason } from "../../../src/gateway/models/model.ts";
import type { ModelEntry, ProviderEntry } from "../../../src/gateway/models/schema.ts";
import { aModel } from "../../support/providers/models.ts";

const zeroPrices = { input: "1.00", output: "2.00" };

function passing(model: Model): AvailabilityFacts {
  const checks = new Map(model.routes.map((route) => [route.entry, { passed: true }]));
  return { providerKey: () => "key", checks, zeroDataRetention: false, earlyAccess: [] };
}

function judge(entry: Partial<ModelEntry>, provider: Partial<ProviderEntry>, facts: Partial<AvailabilityFacts> = {}) {
  const model = aModel(entry, provider);
  return availabilityOf(model, { ...passing(model), ...facts });
}

describe("a model is available only when the catalog lists it and it passed the launch checks", () => {
  test("a listed, priced and configured model with checked terms and a passed check is available and runnable", () => {
    const judged = judge({}, {});
    expect(judged).toMatchObject({ availability: "available", runnable: true, reason: null });
    expect(judged.routes.map((route) => route.provider.id)).toEqual(["stub"]);
  });

  const failing: [UnavailableReason, Partial<ModelEntry>, Partial<ProviderEntry>, Partial<AvailabilityFacts>][] = [
    ["request_access", { listed_as: "request_access" }, {}, {}],
    ["coming_soon", { listed_as: "coming_soon" }, {}, {}],
    ["provider_not_configured", {}, {}, { providerKey: () => null }],
    ["terms_not_checked", {}, { terms_checked: false }, {}],
    ["terms_not_checked", {}, { subprocessor_listed: false }, {}],
    ["launch_check_missing", {}, {}, { checks: new Map() }],
  ];
  test.each(failing)("an obstacle gives the reason %s", (reason, entry, provider, facts) => {
    const judged = judge(entry, provider, facts);
    expect(judged).toMatchObject({ runnable: false, reason, routes: [] });
    expect(judged.availability).toBe(reason === "request_access" ? "request_access" : "coming_soon");
  });

  test("a model without a price has the reason no_price", () => {
    const model = aModel();
    const unpriced = { ...model, routes: model.routes.map((route) => ({ ...route, prices: null })) };
    expect(availabilityOf(unpriced, passing(model))).toMatchObject({ availability: "coming_soon", reason: "no_price" });
  });

  test("a model with a failed check has the reason launch_check_failed", () => {
    const model = aModel();
    const checks = new Map(model.routes.map((route) => [route.entry, { passed: false }]));
    expect(availabilityOf(model, { ...passing(model), checks }).reason).toBe("launch_check_failed");
  });

  test("the check of an entry that has changed since does not count", () => {
    const before = aModel();
    const after = aModel({ upstream_model: "stub-model-2" });
    expect(availabilityOf(after, passing(before)).reason).toBe("launch_check_missing");
  });

  test("a changed price does not make a model unavailable", () => {
    const before = aModel();
    const after = aModel({ prices_per_1m_usd: { input: "9.00", output: "9.00" } });
    expect(availabilityOf(after, passing(before)).runnable).toBe(true);
  });

  test("the first obstacle in order is the reason", () => {
    const everything = { providerKey: () => null, checks: new Map(), zeroDataRetention: true };
    expect(judge({ listed_as: "coming_soon" }, { terms_checked: false }, everything).reason).toBe("coming_soon");
    expect(judge({}, { terms_checked: false }, everything).reason).toBe("provider_not_configured");
    expect(judge({}, { terms_checked: false }, { ...everything, providerKey: () => "key" }).reason).toBe("terms_not_checked");
    expect(judge({}, {}, { ...everything, providerKey: () => "key" }).reason).toBe("launch_check_missing");
  });
});

describe("zero data retention", () => {
  test("a workspace that requires it cannot use a provider without it; the model stays available", () => {
    const judged = judge({}, { zero_data_retention: false }, { zeroDataRetention: true });
    expect(judged).toMatchObject({ availability: "available", runnable: false, reason: "zero_data_retention_required" });
  });

  test("a provider that offers it has no obstacle", () => {
    expect(judge({}, { zero_data_retention: true }, { zeroDataRetention: true }).runnable).toBe(true);
  });
});

describe("several routes", () => {
  const routes = ["first", "second"].map((provider) => ({ provider, upstream_model: "m", prices_per_1m_usd: zeroPrices }));
  const model = aModel({ routes });
  const facts = passing(model);

  test("all routes without obstacles serve, in the catalog's order", () => {
    expect(availabilityOf(model, facts).routes.map((route) => route.provider.id)).toEqual(["first", "second"]);
  });

  test("one route without obstacles is enough, and the others are left out", () => {
    const checks = new Map([[model.routes[1]?.entry ?? "", { passed: true }]]);
    const judged = availabilityOf(model, { ...facts, checks });
    expect(judged.runnable).toBe(true);
    expect(judged.routes.map((route) => route.provider.id)).toEqual(["second"]);
  });

  test("if no route can serve, the one that passed most checks gives the reason", () => {
    const [first, second] = model.routes;
    const checks = new Map([[second?.entry ?? "", { passed: false }]]);
    expect(first?.entry).not.toBe(second?.entry);
    expect(availabilityOf(model, { ...facts, checks }).reason).toBe("launch_check_failed");
  });
});

test("the sandbox needs no key, no terms and no launch check", () => {
  const judged = judge(
    {},
    { format: "sandbox", key_env: "UNUSED_KEY", terms_checked: false },
    { providerKey: () => null, checks: new Map() },
  );
  expect(judged.runnable).toBe(true);
});

describe("an embeddings model is early access", () => {
  const entry: Partial<ModelEntry> = {
    kind: "embeddings",
    max_output_tokens: null,
    prices_per_1m_usd: { input: "0.02", output: "0" },
    dimensions: { default: 8 },
    max_inputs: 16,
    supports: [],
  };

  test("without the feature it has the reason request_access", () => {
    const judged = judge(entry, {}, { earlyAccess: ["completions"] });
    expect(judged).toMatchObject({ availability: "request_access", runnable: false, reason: "request_access" });
  });

  test("with the feature it is available, and needs a key, terms and a launch check like every model", () => {
    const earlyAccess = ["embeddings"];
    expect(judge(entry, {}, { earlyAccess })).toMatchObject({ availability: "available", runnable: true, reason: null });
    expect(judge(entry, {}, { earlyAccess, checks: new Map() }).reason).toBe("launch_check_missing");
  });
});

const models = [
  { id: "openai/gpt-4o", published: true },
  { id: "openai/gpt-4o-mini", published: true },
  { id: "acme/secret-model", published: false },
  { id: "z-ai/glm-5.2", published: true },
  { id: "sandbox/echo", published: true },
];

describe("an unknown model id", () => {
  test.each([
    ["a name without its maker", "gpt-4o", "openai/gpt-4o"],
    ["another case", "OpenAI/GPT-4o", "openai/gpt-4o"],
    ["a letter too few", "openai/gpt4o", "openai/gpt-4o"],
    ["two letters swapped", "opneai/gpt-4o-mini", "openai/gpt-4o-mini"],
    ["a dash in place of a point", "glm-5-2", "z-ai/glm-5.2"],
  ])("with %s, %s, means the nearest model", (_, id, meant) => {
    expect(nearestModel(id, models)).toBe(meant);
  });

  test.each([
    ["another name", "acme/none"],
    ["a short name", "o1"],
    ["an unpublished model", "acme/secret-modell"],
    ["an unpublished model's own id", "acme/secret-model"],
    ["nothing", ""],
    ["an id of 201 letters", "m".repeat(201)],
  ])("that is %s means no model", (_, id) => {
    expect(nearestModel(id, models)).toBeNull();
  });

  test("the message names the nearest model and ends with the requested id", () => {
    const message = modelNotFoundMessage("gpt-4o", "openai/gpt-4o");
    expect(message).toBe("Did you mean openai/gpt-4o? There is no model with the id gpt-4o");
    expect(modelNotFoundMessage("acme/none", null)).toBe("There is no model with the id acme/none");
  });

  test("an id longer than any of the catalog is not compared with the models", () => {
    function* never(): Generator<{ id: string; published: boolean }> {
      yield* [];
      throw new Error("compared");
    }
    expect(nearestModel("m".repeat(201), never())).toBeNull();
  });
});
