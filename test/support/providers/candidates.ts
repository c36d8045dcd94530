/** Candidates for tests that depend on which one is called and not on prices. */
import type { Candidate } from "../../../src/gateway/models/candidate.ts";
import type { Model, ProviderRecord } from "../../../src/gateway/models/model.ts";
import { chatModel } from "./model.ts";
import { route } from "./routes.ts";

/** A route of "acme/one", or of another model, at this provider. */
export function candidate(provider: string, fields: Partial<ProviderRecord> = {}, model: Partial<Model> = {}): Candidate {
  return { model: chatModel([], model), route: route(provider, fields) };
}
