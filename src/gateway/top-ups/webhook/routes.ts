/** POST /api/stripe-webhook: Stripe's events, each answered with 200 once its change is in the database. */
import { bodyPieces, type BodyErrors } from "../../../http/body-pieces.ts";
import { joined } from "../../../http/body-reader.ts";
import { MethodNotAllowedError, Router, type RouteContext, type Routes } from "../../../http/router.ts";
import { jsonResponse } from "../../../kernel/json-response.ts";
import type { Secret } from "../../../kernel/secret.ts";
import { webhookBodyMs, webhookBytesMax, webhooksAtOnceMax } from "../limits.ts";
import type { TopUpParts } from "../parts.ts";
import { signatureProblem } from "../stripe/signature.ts";
import { applyEvent } from "./apply-event.ts";
import { parseEvent, type StripeEvent } from "./event.ts";

export const webhookPath = "/api/stripe-webhook";

/** An event that is not answered with 200; Stripe sends it again. */
class WebhookError extends Error {
  override name = "WebhookError";
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const errors: BodyErrors = {
  encoded: () => new WebhookError(400, "invalid_body", "The body must not be compressed"),
  incomplete: () => new WebhookError(400, "invalid_body", "The body did not arrive in full and in time"),
  tooLarge: () => new WebhookError(413, "body_too_large", "The body is too large for an event"),
};

export interface WebhookParts extends TopUpParts {
  secrets: readonly Secret[];
}

export function stripeWebhookRoutes(parts: WebhookParts): Routes {
  const router = new Router({ clock: parts.clock });
  let running = 0;
  router.add({
    path: webhookPath,
    methods: ["POST"],
    async handle({ request }) {
      if (running >= webhooksAtOnceMax) throw new WebhookError(503, "unavailable", "Too many events arrive at this moment");
      running++;
      try {
        await applyEvent(await readEvent(request, parts), parts);
      } finally {
        running--;
      }
      return jsonResponse({ received: true }, { headers: { "cache-control": "no-store" } });
    },
    writeError: (error, context) => errorAnswer(error, context, parts),
  });
  return router.app;
}

/** @throws WebhookError for what Stripe did not sign for this service and this mode */
async function readEvent(request: Request, { secrets, clock, stripe, log }: WebhookParts): Promise<StripeEvent> {
  const refuse = (reason: string, message: string): WebhookError => {
    log.warn({ event: "stripe_webhook.refused", reason }, "An event that claims to be from Stripe was refused");
    return new WebhookError(400, "invalid_event", message);
  };
  const header = request.headers.get("stripe-signature") ?? "";
  if (header === "" || header.length > 2_000) throw refuse("signature", "The header Stripe-Signature is missing or too long");
  const limits = { clock, bytesMax: webhookBytesMax, withinMs: webhookBodyMs, errors };
  const bytes = joined(await Array.fromAsync(bodyPieces(request, limits)));
  const problem = signatureProblem({ header, bytes }, { secrets, nowMs: clock.now() });
  if (problem === "signature") throw refuse(problem, "The signature is not of this endpoint's secret");
  if (problem === "time") throw refuse(problem, "The signature's time is more than five minutes away");
  const event = parseEvent(bytes);
  if (event === null) throw refuse("form", "The body is not an event");
  if (event.livemode !== stripe.isLive) throw refuse("mode", "The event is of the other mode: test or live");
  return event;
}

function errorAnswer(error: unknown, _context: RouteContext, { log }: WebhookParts): Response {
  if (error instanceof MethodNotAllowedError) {
    const body = { error: { code: "method_not_allowed", message: error.message } };
    return jsonResponse(body, { status: 405, headers: error.headers });
  }
  if (error instanceof WebhookError) {
    return jsonResponse({ error: { code: error.code, message: error.message } }, { status: error.status });
  }
  log.error(
    { event: "stripe_webhook.failed", reason: String(error) },
    "An event of Stripe was not applied; Stripe sends it again",
  );
  return jsonResponse({ error: { code: "internal_error", message: "The event was not applied" } }, { status: 500 });
}
