/** Why a model cannot be called at present, as a sentence. */
import type { UnavailableReason } from "./model.ts";

export const unavailableMessages: Record<UnavailableReason, string> = {
  request_access: "access to it must be requested",
  coming_soon: "it is coming soon",
  no_price: "it has no price yet",
  provider_not_configured: "its provider is not configured",
  terms_not_checked: "its provider's terms have not been checked",
  launch_check_missing: "its launch check has not run yet",
  launch_check_failed: "it failed its launch check",
  zero_data_retention_required: "the workspace requires zero data retention and no provider of the model offers it",
  catalog_unreadable: "the catalog cannot be read",
};

/** Why a request is refused. Only one that names providers meets the last: the model itself can be called. */
export type RefusalReason = UnavailableReason | "own_key_elsewhere";

const refusalMessages: Record<RefusalReason, string> = {
  ...unavailableMessages,
  own_key_elsewhere:
    "the workspace has an own key for another provider of it than the request allows, and own_key_fallback is off",
};

export function isRefusalReason(text: string): text is RefusalReason {
  return Object.hasOwn(refusalMessages, text);
}

/** The message of a `model_unavailable` error. */
export function unavailableMessage(model: string, reason: RefusalReason): string {
  return `The model ${model} cannot be called at present: ${refusalMessages[reason]}`;
}
