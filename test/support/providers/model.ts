/** A model for tests that depend on what it supports. */
import type { Model } from "../../../src/gateway/models/model.ts";
import { route } from "./routes.ts";

export function chatModel(supports: string[] = [], fields: Partial<Model> = {}): Model {
  return {
    id: "acme/one",
    name: "One",
    kind: "chat",
    created: 1_790_000_000,
    contextLength: 128_000,
    maxOutputTokens: 4_096,
    parameters: null,
    routes: [route("acme")],
    listedAs: "available",
    published: true,
    supports: new Set(supports),
    reasons: false,
    defaultOnly: new Set(),
    listPrices: null,
    ...fields,
  };
}
