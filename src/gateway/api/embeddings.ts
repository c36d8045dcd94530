/**
 * An embeddings request from top to bottom, in the specification's order of checks. The first problem is answered; until the fifth check
 * has passed, nothing is sent to a provider and nothing is charged. The texts are stored nowhere, also if the workspace stores prompts.
 */
import { authenticate } from "./authenticate.ts";
import { requireEarlyAccess } from "./early-access.ts";
import { embedAdmitted } from "./embed.ts";
import type { Gateway } from "./gateway.ts";
import { readBody } from "./request/body.ts";
import { checkEmbedding } from "./request/embedding/check.ts";
import { startTrace } from "../../kernel/telemetry/traces.ts";
import { asGatewayError, holderOf } from "./request/load-limits.ts";

/** @throws GatewayError with the first problem */
export async function createEmbeddings(request: Request, gateway: Gateway): Promise<Response> {
  const { admission, bodies, clock, clocks, inFlight, models } = gateway;
  const trace = startTrace(request, clock);
  // 1. The key (401), then the platform and the endpoint (403)
  const caller = await authenticate(request, gateway);
  requireEarlyAccess(caller, "embeddings");
  // 2. The body's size (413), then its fields (400)
  using memory = new DisposableStack();
  const lease = memory.use(bodies.lease(holderOf(caller)));
  const embedding = checkEmbedding(await readBody(request, { clock, bodyMs: clocks.bodyMs, lease, caller }), models);
  inFlight.requireCapacity(caller);
  try {
    lease.grow(embedding.answerBytes);
  } catch (error) {
    throw asGatewayError(error, caller);
  }
  // 3. Requests per minute (429), 4. the model (404, 503), 5. credit and spend limits (402): one atomic decision
  const admitted = await admission.admit(caller, embedding);
  // 6. The provider (400, 429, 502, 504)
  return await embedAdmitted({ clientSignal: request.signal, trace, caller, embedding, admitted, memory }, gateway);
}
