/**
 * A chat completion from top to bottom, in the specification's order of checks. The first problem is answered; until the fifth check
 * has passed, nothing is sent to a provider and nothing is charged.
 */
import { readBody } from "./request/body.ts";
import { checkChat } from "./request/chat.ts";
import type { CreateStream } from "./stream/client-stream.ts";
import type { Gateway } from "./gateway.ts";
import { chatFormat } from "./answer-format.ts";
import { generate } from "./generate.ts";
import { authenticate } from "./authenticate.ts";
import { holderOf } from "./request/load-limits.ts";

/** @throws GatewayError with the first problem */
export async function chatCompletion(request: Request, gateway: Gateway, createStream: CreateStream): Promise<Response> {
  const { admission, clock, clocks, models } = gateway;
  // 1. The key (401), then the platform (403)
  const caller = await authenticate(request, gateway);
  // 2. The body's size (413), then its fields (400)
  using lease = gateway.bodies.lease(holderOf(caller));
  const chat = checkChat(await readBody(request, { clock, bodyMs: clocks.bodyMs, lease, caller }), models);
  gateway.inFlight.requireCapacity(caller);
  // 3. Requests per minute (429), 4. the model (404, 503), 5. credit and spend limits (402): one atomic decision
  const admitted = await admission.admit(caller, chat);
  // 6. The provider (400, 429, 502, 504)
  return await generate({ clientSignal: request.signal, createStream, caller, chat, format: chatFormat, admitted }, gateway);
}
