import { describe, expect, test } from "bun:test";
import { modelBody, modelListBody, type Listing } from "../../../src/gateway/api/models.ts";
import type { Availability } from "../../../src/gateway/models/availability.ts";
import type { Model } from "../../../src/gateway/models/model.ts";
import { chatModel } from "../../support/providers/model.ts";

const callable = chatModel([], { id: "acme/one" });
const coming = chatModel([], { id: "acme/two", listedAs: "coming_soon" });

function listing(readable = true): Listing {
  const availability = (model: Model): Availability =>
    model === callable
      ? { availability: "available", runnable: true, reason: null, routes: model.routes }
      : { availability: "coming_soon", runnable: false, reason: "coming_soon", routes: [] };
  const known = [callable, coming];
  return {
    models: {
      readable: () => readable,
      list: () => known,
      find: (id) => known.find((model) => model.id === id) ?? null,
      availability,
    },
    demands: { zeroDataRetention: false, earlyAccess: [] },
    measure: () => ({ latencyMs: 120, uptimePercent: 99.5 }),
  };
}

describe("the list of models", () => {
  test("with all=true the list also has the other models, each with a reason", () => {
    const { data } = modelListBody(listing(), true);
    expect(data[1]).toMatchObject({ id: "acme/two", runnable: false, unavailable_reason: "coming_soon" });
  });

  test("without a catalog list and model are model_unavailable", () => {
    expect(() => modelListBody(listing(false), true)).toThrow("cannot be read");
    expect(() => modelBody(listing(false), "acme/one")).toThrow("cannot be read");
  });
});
