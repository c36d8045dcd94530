import { invalidRequest } from "../../../http/bad-request.ts";
import type { Model } from "../../models/model.ts";

/**
 * Checks that an endpoint serves this kind of model. A model that is not in the catalog, or answers without a model, is refused by a later
 * check.
 * @throws GatewayError invalid_request for a model of the other kind
 */
export function requireKind(model: Model | null, kind: "chat" | "embeddings"): void {
  if (model === null || model.kind === kind || model.kind === "none") return;
  const message =
    model.kind === "embeddings"
      ? `${model.id} is an embeddings model: send it to /embeddings`
      : `${model.id} is a chat model and has no embeddings`;
  throw invalidRequest("model", message);
}
