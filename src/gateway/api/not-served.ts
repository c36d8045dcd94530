/** Endpoints in early access, which this version does not serve: they check the key and answer that they are off. */
import { authenticate } from "./authenticate.ts";
import { notEnabled } from "./early-access.ts";
import type { Gateway } from "./gateway.ts";

export async function notServed(request: Request, gateway: Gateway): Promise<Response> {
  await authenticate(request, gateway);
  throw notEnabled();
}
