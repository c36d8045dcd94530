/** GET /models and GET /models/{id}: the models that the key can call, and why it cannot call others. */
import type { Caller } from "../admission/client/admission.ts";
import { requestTarget } from "../../http/request-target.ts";
import { jsonResponse } from "../../kernel/json-response.ts";
import type { Gateway } from "./gateway.ts";
import { authenticate } from "./authenticate.ts";
import { modelBody, modelListBody, type Listing } from "./model-list.ts";

/** Precedes the id in a path. An id may contain it too. */
const modelsPath = "/models/";

/** With `all=true` includes the models that cannot be called. */
export async function listModels(request: Request, gateway: Gateway): Promise<Response> {
  const caller = await authenticate(request, gateway);
  const all = requestTarget(request).query.get("all") === "true";
  return jsonResponse(modelListBody(listingFor(caller, gateway), all));
}

/** The slash in an id may be escaped or not. */
export async function showModel(request: Request, gateway: Gateway): Promise<Response> {
  const caller = await authenticate(request, gateway);
  const { path } = requestTarget(request);
  const escaped = path.slice(path.indexOf(modelsPath) + modelsPath.length);
  return jsonResponse(modelBody(listingFor(caller, gateway), unescaped(escaped)));
}

function listingFor({ record }: Caller, { models, health }: Gateway): Listing {
  return { models, demands: record, measure: (route) => health.measure(route) };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
