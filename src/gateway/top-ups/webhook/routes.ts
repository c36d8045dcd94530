/**
 * POST /api/stripe-webhook: Stripe's events, each answered with 200 once its change is in the database. The signature needs the body, so
 * anybody may send one: bodies have places by network, which slow ones lose, and only a signed event takes a turn.
 */
import { strangerGivesWayMs } from "../../../accounts/limits.ts";
import { BodyDoor } from "../../../accounts/quotas/body-door.ts";
import { networkLane, type Lane } from "../../../accounts/quotas/lane.ts";
import { LimitReachedError, retryAfterHeader } from "../../../accounts/quotas/limit-reached.ts";
import { Turns } from "../../../accounts/quotas/turns.ts";
import { networkOf } from "../../../accounts/sessions/sign-in-tries.ts";
import type { BodyErrors } from "../../../http/body-pieces.ts";
import { joined } from "../../../http/body-reader.ts";
import { MethodNotAllowedError, Router, type Routes } from "../../../http/router.ts";
import { bodyBytesPerSecondMin } from "../../../http/limits.ts";
import type { TrustedProxies } from "../../../kernel/addresses/trusted-proxies.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { jsonResponse } from "../../../kernel/json-response.ts";
import type { Secret } from "../../../kernel/secret.ts";
import * as limits from "../limits.ts";
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
  tooSlow: () =>
    new WebhookError(
      408,
      "body_too_slow",
      `The body arrives too slowly: at least ${bodyBytesPerSecondMin} bytes a second are needed`,
    ),
  tooLarge: () => new WebhookError(413, "body_too_large", "The body is too large for an event"),
};

export interface WebhookParts extends TopUpParts {
  secrets: readonly Secret[];
  /** Tells whose bodies share a lane. */
  proxies: TrustedProxies;
}

export function stripeWebhookRoutes(parts: WebhookParts): Routes {
  const router = new Router({ clock: parts.clock });
  const { bodies, events } = doorOf(parts.clock);
  router.add({
    path: webhookPath,
    methods: ["POST"],
    async handle({ request, server }) {
      const lane = networkLane(networkOf(parts.proxies.clientOf(request, server)));
      const event = await readEvent({ request, lane }, bodies, parts);
      using turn = await events.take(stripeLane);
      await turn.keepFor(applyEvent(event, parts));
      return jsonResponse({ received: true }, { headers: { "cache-control": "no-store" } });
    },
    writeError: (error) => errorAnswer(error, parts),
  });
  return router.app;
}

/** All signed events are Stripe's, from whichever of its addresses. */
const stripeLane = networkLane("of Stripe");

function doorOf(clock: Clock): { bodies: BodyDoor; events: Turns } {
  const busy = "Too many events arrive at this moment";
  const arriving = {
    runningMax: limits.webhookBodiesMax,
    runningPerHolderMax: limits.webhookBodiesMax,
    waitingMax: limits.webhookBodiesWaitingMax,
    waitingPerHolderMax: limits.webhookBodiesWaitingMax,
    refusesOldest: true,
    waitMs: limits.webhookWaitMs,
  };
  const applied = {
    runningMax: limits.webhooksAtOnceMax,
    runningPerHolderMax: limits.webhooksAtOnceMax,
    waitingMax: limits.webhooksWaitingMax,
    waitingPerHolderMax: limits.webhooksWaitingMax,
    waitMs: limits.webhookWaitMs,
  };
  return {
    bodies: new BodyDoor({ clock, limits: arriving, busy, givesWayMs: strangerGivesWayMs, dropsRefused: true }),
    events: new Turns({ clock, limits: applied, busy }),
  };
}

/** @throws WebhookError for what Stripe did not sign for this service and this mode; LimitReachedError */
async function readEvent(
  { request, lane }: { request: Request; lane: Lane },
  bodies: BodyDoor,
  { secrets, clock, stripe, log }: WebhookParts,
): Promise<StripeEvent> {
  const refuse = (reason: string, message: string): WebhookError => {
    log.warn({ event: "stripe_webhook.refused", reason }, "An event that claims to be from Stripe was refused");
    return new WebhookError(400, "invalid_event", message);
  };
  const header = request.headers.get("stripe-signature") ?? "";
  if (header === "" || header.length > 2_000) throw refuse("signature", "The header Stripe-Signature is missing or too long");
  const bounds = { bytesMax: limits.webhookBytesMax, withinMs: limits.webhookBodyMs, errors };
  using body = await bodies.receive(request, lane, bounds);
  const bytes = joined(body.pieces);
  const problem = signatureProblem({ header, bytes }, { secrets, nowMs: clock.now() });
  if (problem === "signature") throw refuse(problem, "The signature is not of this endpoint's secret");
  if (problem === "time") throw refuse(problem, "The signature's time is more than five minutes away");
  const event = parseEvent(bytes);
  if (event === null) throw refuse("form", "The body is not an event");
  if (event.livemode !== stripe.isLive) throw refuse("mode", "The event is of the other mode: test or live");
  return event;
}

function errorAnswer(error: unknown, { log }: WebhookParts): Response {
  if (error instanceof MethodNotAllowedError) {
    const body = { error: { code: "method_not_allowed", message: error.message } };
    return jsonResponse(body, { status: 405, headers: error.headers });
  }
  if (error instanceof WebhookError) {
    // Whoever sends slowly would go on after the answer.
    const headers = error.status === 408 ? { connection: "close" } : {};
    return jsonResponse({ error: { code: error.code, message: error.message } }, { status: error.status, headers });
  }
  if (error instanceof LimitReachedError) {
    const body = { error: { code: "unavailable", message: error.message } };
    return jsonResponse(body, { status: 503, headers: retryAfterHeader(error) });
  }
  log.error(
    { event: "stripe_webhook.failed", reason: String(error) },
    "An event of Stripe was not applied; Stripe sends it again",
  );
  return jsonResponse({ error: { code: "internal_error", message: "The event was not applied" } }, { status: 500 });
}
