import { describe, expect, test } from "bun:test";
import { modelBody, modelListBody, readPage, type Listing } from "../../../src/gateway/api/models.ts";
import type { Availability } from "../../../src/gateway/models/availability.ts";
import type { Model } from "../../../src/gateway/models/model.ts";
import { GatewayError } from "../../../src/kernel/errors.ts";
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
    const { data } = modelListBody(listing(), { all: true });
    expect(data[1]).toMatchObject({ id: "acme/two", runnable: false, unavailable_reason: "coming_soon" });
  });

  test("a model has the names of both APIs", () => {
    expect(modelListBody(listing(), { all: false })).toMatchObject({
      object: "list",
      has_more: false,
      first_id: "acme/one",
      last_id: "acme/one",
      data: [
        {
          id: "acme/one",
          object: "model",
          created: 1_790_000_000,
          type: "model",
          display_name: "One",
          created_at: "2026-09-21T14:13:20.000Z",
          max_input_tokens: 128_000,
          max_tokens: 4_096,
          lifecycle: "active",
          capabilities: null,
          line: null,
          deprecated_at: null,
          retires_at: null,
        },
      ],
    });
  });

  test.each([
    ["limit=1000", ["acme/one", "acme/two"], false],
    ["limit=1", ["acme/one"], true],
    ["limit=1&after_id=acme/one", ["acme/two"], false],
    ["after_id=acme/two", [], false],
    ["before_id=acme/two", ["acme/one"], false],
    ["limit=1&before_id=acme/one", [], false],
  ])("the page %s has %p", (query, ids, has_more) => {
    const page = readPage(new URLSearchParams(query));
    const { data, ...facts } = modelListBody(listing(), { all: true, page });
    expect(data.map(({ id }) => id)).toEqual(ids);
    expect(facts).toEqual({ object: "list", has_more, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null });
  });

  test.each(["limit=0", "limit=1001", "limit=x", "limit=", "after_id=a&before_id=b"])("the page %s is refused", (query) => {
    expect(() => readPage(new URLSearchParams(query))).toThrow(GatewayError);
  });

  test("a page behind an unknown id is refused, by the name of the parameter", () => {
    const page = readPage(new URLSearchParams("after_id=none/such"));
    expect(() => modelListBody(listing(), { all: true, page })).toThrow("after_id");
  });

  test("without a catalog list and model are model_unavailable", () => {
    expect(() => modelListBody(listing(false), { all: true })).toThrow("cannot be read");
    expect(() => modelBody(listing(false), "acme/one")).toThrow("cannot be read");
  });
});
