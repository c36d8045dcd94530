/** Endpoints in early access are switched on for each workspace. Check 1 ends with it, before the body is read. */
import type { Caller } from "../admission/client/admission.ts";
import { GatewayError } from "../../kernel/errors.ts";

/** @throws GatewayError gateway_disabled */
export function requireEarlyAccess({ record }: Caller, feature: "embeddings" | "completions"): void {
  if (!record.earlyAccess.includes(feature)) throw notEnabled();
}

export function notEnabled(): GatewayError {
  return new GatewayError("gateway_disabled", { message: "This endpoint is in early access and is not enabled for the account" });
}
