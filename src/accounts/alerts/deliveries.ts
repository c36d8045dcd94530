/**
 * Delivers alerts to webhooks. It runs in every process that serves HTTP, since only those have the keys that open secrets.
 *
 * A delivery arrives at least once, and in Weir's own format is signed. Any status but 2xx is a failure. It is retried after 30 s, then after
 * pauses that double up to two hours, and given up after a day. The address is checked at each delivery: one in a private network is never
 * called, and no redirect is followed. Only the status of the answer is kept. While one process tries a delivery, no other process does.
 */
import { createHmac } from "node:crypto";
import type { Database } from "../../backing/backing.ts";
import type { Bus } from "../../backing/bus.ts";
import { BaseUrlError, isLoopbackOrigin } from "../../http/public-address.ts";
import { createSafeFetch, PrivateAddressError, TooLargeError, type SafeFetch } from "../../http/safe-fetch.ts";
import { DeadlineError, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import { SealError } from "../../kernel/seal-key.ts";
import type { Secret } from "../../kernel/secret.ts";
import { alertDeliveriesAtOnce, alertDeliveryPollMs, alertAnswerBytesMax, alertCallMs } from "../limits.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { beginDeliveries, recordOutcome, type DueDelivery, type Outcome } from "./webhook-store.ts";
import { bodyIn, webhookFormats } from "./webhook-formats.ts";
import { openWebhookSecrets } from "./webhooks.ts";

interface SendDeliveriesParts extends DeliverParts {
  sql: Database;
  log: Logger;
}

/** Runs until disposed: when notified of a waiting delivery, and at regular intervals, since a notification may be lost. */
export function startDeliveries(parts: SendDeliveriesParts & { bus: Pick<Bus, "listen"> }): AsyncDisposable {
  const { bus, clock, log } = parts;
  return repeatUntilStopped({
    clock,
    round: (signal) => sendDeliveries(parts, signal),
    everyMs: alertDeliveryPollMs,
    pauseFirst: true,
    wakeOn: (wake) => bus.listen("alert-waits", wake),
    onError: (error) => log.warn({ event: "alert.delivery.failed", reason: String(error) }, "Alerts could not be delivered"),
  });
}

/** Tries all due deliveries, one per webhook at a time. @returns how many were tried */
export async function sendDeliveries(parts: SendDeliveriesParts, signal?: AbortSignal): Promise<number> {
  const { sql, clock } = parts;
  let tried = 0;
  while (!signal?.aborted) {
    const due = await beginDeliveries({ now: new Date(clock.now()), limit: alertDeliveriesAtOnce }, sql);
    if (due.length === 0) break;
    await Promise.all(due.map((one) => send(one, parts)));
    tried += due.length;
  }
  return tried;
}

export interface DeliverParts {
  /** Made by `webhookFetch`: follows no redirect. */
  callWebhook: SafeFetch;
  keyring: Keyring;
  clock: Clock;
}

/** Never rejects. A 2xx status means delivered; anything else is retried until the delivery expires. */
export async function deliver(due: DueDelivery, { callWebhook, keyring, clock }: DeliverParts): Promise<Outcome> {
  try {
    const { status } = await callWebhook({
      method: "POST",
      ...signedRequest(due, openWebhookSecrets(due, keyring), clock.now()),
      answerBytesMax: alertAnswerBytesMax,
      deadlineMs: alertCallMs,
      what: "The webhook's answer",
    });
    return { state: status >= 200 && status < 300 ? "delivered" : stateAfterFailure(due), status, failure: null };
  } catch (error) {
    return { state: stateAfterFailure(due), status: null, failure: failureOf(error) };
  }
}

/** The header that proves who sent a body, and when. */
const signatureHeader = "weir-signature";

/** What the webhook's format asks for. @param secrets the current one first, and all that sign */
function signedRequest(
  { format, url, body: stored }: DueDelivery,
  secrets: readonly Secret[],
  nowMs: number,
): { url: URL; headers: Record<string, string>; body: string } {
  const secret = secrets[0]?.reveal() ?? "";
  const { secret: use } = webhookFormats[format];
  const body = bodyIn(format, { body: stored, secret });
  const signature = use === "signs" ? { [signatureHeader]: sign({ body, nowMs, secrets }) } : {};
  return {
    url: new URL(use === "address" ? secret : url),
    headers: { "content-type": "application/json", ...signature },
    body,
  };
}

/** Calls webhooks: public hosts, and this machine only where nothing else reaches the service. */
export function webhookFetch({ clock, isLocal }: { clock: Clock; isLocal: boolean }): SafeFetch {
  return createSafeFetch({ clock, configured: (origin) => isLocal && isLoopbackOrigin(origin) });
}

async function send(due: DueDelivery, parts: SendDeliveriesParts): Promise<void> {
  const { alert, webhook, attempts } = due;
  const outcome = await deliver(due, parts);
  await recordOutcome({ alert, webhook, attempts, ...outcome }, parts.sql);
  const { state, status, failure } = outcome;
  const facts = { alert, webhook, attempts, status, failure };
  if (state === "delivered") parts.log.info({ event: "alert.delivered", ...facts });
  else parts.log.warn({ event: state === "waiting" ? "alert.put_off" : "alert.given_up", ...facts });
}

/**
 * `t=<seconds>,v1=<hex>`: an HMAC-SHA256 of the time, a full stop and the body, in the form that Stripe uses. While a secret is being
 * replaced, each of the two adds a `v1`.
 */
function sign({ body, nowMs, secrets }: { body: string; nowMs: number; secrets: readonly Secret[] }): string {
  const seconds = Math.floor(nowMs / 1_000);
  const signatures = secrets.map((secret) => createHmac("sha256", secret.reveal()).update(`${seconds}.${body}`).digest("hex"));
  return [`t=${seconds}`, ...signatures.map((signature) => `v1=${signature}`)].join(",");
}

function stateAfterFailure({ dueAt, until }: DueDelivery): Outcome["state"] {
  return dueAt.getTime() > until.getTime() ? "given_up" : "waiting";
}

/** A code, never the error's text, which may contain part of the answer. */
function failureOf(error: unknown): string {
  if (error instanceof PrivateAddressError || error instanceof BaseUrlError) return "private_address";
  if (error instanceof DeadlineError) return "timeout";
  if (error instanceof TooLargeError) return "answer_too_large";
  return error instanceof SealError ? "secret_unavailable" : "unreachable";
}
