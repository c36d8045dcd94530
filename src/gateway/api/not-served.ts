/** Endpoints in early access, which this version does not serve: they check the key and answer that they are off. */
import { GatewayError } from "../../kernel/errors.ts";
import { authenticate } from "./authenticate.ts";
import type { Gateway } from "./gateway.ts";

export async function notServed(request: Request, gateway: Gateway): Promise<Response> {
  await authenticate(request, gateway);
  throw new GatewayError("gateway_disabled", { message: "This endpoint is in early access and is not enabled for the account" });
}
