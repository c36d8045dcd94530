/**
 * POST /api/stripe-webhook: Stripe's events, each answered with 200 once its change is in the database, so Stripe repeats the others. It
 * answers 400 unless one of the secrets made the signature, the signature is at most five minutes old, and the event has the key's mode;
 * the log then has a reason but nothing from the body. Events that Weir does not use are answered with 200 and ignored. Checking the
 * signature needs the body, so anybody may send one: bodies get slots by network, which slow ones lose, and only signed events are queued.
 * Events come at least once and in any order, so an event of a payment says only that it changed: its current state is read from Stripe.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { Type, type Static } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { strangerGivesWayMs } from "../../accounts/limits.ts";
import { BodyDoor } from "../../accounts/quotas/body-door.ts";
import { networkLane, type Lane } from "../../accounts/quotas/lane.ts";
import { LimitReachedError, retryAfterHeader } from "../../accounts/errors.ts";
import { Turns } from "../../accounts/quotas/fair-semaphore.ts";
import { networkOf } from "../../accounts/sessions/sign-in.ts";
import type { BodyErrors } from "../../http/body.ts";
import { bodyBytesPerSecondMin } from "../../http/limits.ts";
import { MethodNotAllowedError, Router, type Routes } from "../../http/router.ts";
import type { TrustedProxies } from "../../kernel/proxies.ts";
import type { Clock } from "../../kernel/clock.ts";
import { jsonResponse } from "../../kernel/json.ts";
import type { Secret } from "../../kernel/secret.ts";
import type { TopUpParts } from "./change-top-up.ts";
import * as limits from "./limits.ts";
import { webhookSkewMsMax } from "./limits.ts";
import { leaveCheckout, creditPayment } from "./payments.ts";
import { ofCents } from "./schema.ts";
import { removeCard } from "./settings.ts";
import { isApplied, selectTopUp } from "./store.ts";
import { applyDispute, type DisputeStep, applyRefund } from "./take-back.ts";

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

export interface WebhookParts extends TopUpParts {
  secrets: readonly Secret[];
  /** Decides which senders' bodies share a lane. */
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

/** All signed events are Stripe's, whatever address they come from. */
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
  const { bytes } = body;
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
    // A slow sender would continue after the answer.
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

// From an event to its change

/** Unknown types change nothing. @throws when Stripe or the database did not answer: Stripe sends the event again */
export async function applyEvent(event: StripeEvent, parts: TopUpParts): Promise<void> {
  const apply = known[event.type];
  if (!apply || (await isApplied(event.id, parts.sql))) return;
  await apply({ id: event.id, object: eventObjectOf(event) }, parts);
}

interface Reported {
  /** The event's id. */
  id: string;
  object: EventObject;
}

type Apply = (event: Reported, parts: TopUpParts) => Promise<void>;

const known: Record<string, Apply> = {
  "checkout.session.completed": session,
  "checkout.session.async_payment_succeeded": session,
  "checkout.session.async_payment_failed": left,
  "checkout.session.expired": left,
  "payment_intent.succeeded": payment,
  "payment_intent.payment_failed": payment,
  "payment_intent.requires_action": payment,
  "refund.created": refund,
  "refund.failed": refund,
  "charge.dispute.created": dispute("opened"),
  "charge.dispute.funds_withdrawn": dispute("withdrawn"),
  "charge.dispute.funds_reinstated": dispute("reinstated"),
  "payment_method.detached": ({ id, object }, parts) => removeCard(object.id, parts, id),
};

async function session({ id, object }: Reported, parts: TopUpParts): Promise<void> {
  const { client_reference_id: topUp, payment_intent: paymentIntent } = object;
  if (!topUp || !paymentIntent || !(await selectTopUp(topUp, parts.sql))) return;
  await creditPayment(await parts.stripe.readPayment(paymentIntent), parts, id);
}

async function left({ id, object }: Reported, parts: TopUpParts): Promise<void> {
  const topUp = await selectTopUp(object.client_reference_id ?? "", parts.sql);
  // Another page may have been opened for it since.
  if (topUp?.session === object.id) await leaveCheckout(topUp, parts, id);
}

async function payment({ id, object }: Reported, parts: TopUpParts): Promise<void> {
  // Other payments of the account do not concern Weir, and need no call.
  if (object.metadata?.["topup"] === undefined) return;
  await creditPayment(await parts.stripe.readPayment(object.id), parts, id);
}

async function refund({ id, object }: Reported, parts: TopUpParts): Promise<void> {
  const made = {
    id: object.id,
    status: object.status ?? "",
    amount: ofCents(object.amount ?? 0),
    paymentIntent: object.payment_intent ?? null,
    refund: object.metadata?.["refund"] ?? null,
  };
  if (made.amount > 0n) await applyRefund(made, parts, id);
}

function dispute(step: DisputeStep): Apply {
  return async ({ object: { id, payment_intent: paymentIntent, amount } }, parts) => {
    if (!paymentIntent || !amount) return;
    await applyDispute({ dispute: { id, paymentIntent, amount: ofCents(amount) }, step }, parts);
  };
}

// The form of an event: only what Weir reads, since the rest depends on the account's API version

const text = Type.String({ minLength: 1, maxLength: 255 });
const maybeText = Type.Optional(Type.Union([text, Type.Null()]));

const EventObject = Type.Object({
  id: text,
  status: maybeText,
  amount: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])),
  payment_intent: maybeText,
  client_reference_id: maybeText,
  metadata: Type.Optional(Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()])),
});
type EventObject = Static<typeof EventObject>;

const Event = Type.Object({
  id: text,
  type: text,
  livemode: Type.Boolean(),
  data: Type.Object({ object: Type.Unknown() }),
});
export type StripeEvent = Static<typeof Event>;

const events = TypeCompiler.Compile(Event);
const objects = TypeCompiler.Compile(EventObject);

/** @returns null: it is not an event */
function parseEvent(bytes: Uint8Array): StripeEvent | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return events.Check(value) ? value : null;
  } catch {
    return null;
  }
}

/** The subject of an event whose type Weir uses. @throws Error for an object of another form, which a person has to look at */
function eventObjectOf({ type, data: { object } }: StripeEvent): EventObject {
  if (objects.Check(object)) return object;
  throw new Error(`An event ${type} has an object of an unknown form`);
}

// Signatures: https://docs.stripe.com/webhooks#verify-manually

type SignatureProblem = "signature" | "time";

interface Signed {
  /** The header `Stripe-Signature`. */
  header: string;
  /** The body as it arrived. */
  bytes: Uint8Array;
}

/**
 * @param secrets one, or two during a change; any signature may match any of them
 * @returns null: the signature is Stripe's and not older or newer than five minutes
 */
export function signatureProblem(
  { header, bytes }: Signed,
  { secrets, nowMs }: { secrets: readonly Secret[]; nowMs: number },
): SignatureProblem | null {
  const parts = header.split(",").map((part) => part.trim().split("="));
  const time = parts.find(([name]) => name === "t")?.[1] ?? "";
  if (!/^\d{1,12}$/.test(time)) return "signature";
  const given = parts.flatMap(([name, value]) => (name === "v1" && /^[0-9a-f]{64}$/.test(value ?? "") ? [value ?? ""] : []));
  const expected = secrets.map((secret) => createHmac("sha256", secret.reveal()).update(`${time}.`).update(bytes).digest());
  // Every pair is compared, so that the time of the answer reveals nothing.
  let matches = 0;
  for (const one of given) for (const other of expected) if (timingSafeEqual(Buffer.from(one, "hex"), other)) matches++;
  if (matches === 0) return "signature";
  return Math.abs(nowMs - Number(time) * 1000) > webhookSkewMsMax ? "time" : null;
}
