/** GET /models and GET /models/{id}: what the key can call, and what it cannot, and why. */
import type { Caller } from "../admission/client.ts";
import type { Gateway } from "./gateway.ts";
import { identify } from "./identify.ts";
import { modelBody, modelListBody, type Listing } from "./model-list.ts";

/** With `all=true` also the models that cannot be called. */
export async function listModels(request: Request, gateway: Gateway): Promise<Response> {
  const caller = await identify(request, gateway);
  const all = new URL(request.url).searchParams.get("all") === "true";
  return Response.json(modelListBody(listingFor(caller, gateway), all));
}

/** Ids contain a slash: as it is or escaped, it is the same model. */
export async function showModel(request: Request, gateway: Gateway): Promise<Response> {
  const caller = await identify(request, gateway);
  const [, escaped = ""] = new URL(request.url).pathname.split("/models/");
  return Response.json(modelBody(listingFor(caller, gateway), unescaped(escaped)));
}

/** Nothing is measured yet: latency and uptime are null. */
function listingFor({ record }: Caller, { models }: Gateway): Listing {
  return { models, demands: { zeroDataRetention: record.zeroDataRetention }, measure: () => null };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
