/**
 * Delivers alerts to webhooks, in every process that serves HTTP: only those have the keys that open secrets.
 *
 * A delivery arrives at least once, signed. Any status but 2xx is a failure; it is tried again after 30 s, then after twice as long
 * each time, at most two hours, for a day, and then given up. The address is judged at each delivery: one in a private network is never
 * called, and no redirect is followed. Nothing of the answer is kept except its status. While one process tries a delivery, no other
 * process does.
 */
import { createHmac } from "node:crypto";
import type { Database } from "../../backing/backing.ts";
import type { Bus } from "../../backing/bus.ts";
import { BaseUrlError } from "../../http/public-address.ts";
import { PrivateAddressError, TooLargeError, type SafeFetch } from "../../http/safe-fetch.ts";
import { DeadlineError, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import { SealError } from "../../kernel/seal-key.ts";
import type { Secret } from "../../kernel/secret.ts";
import { alertDeliveriesAtOnce, alertDeliveryPollMs, alertAnswerBytesMax, alertCallMs } from "../limits.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { beginDeliveries, recordOutcome, type DueDelivery, type Outcome } from "./webhook-store.ts";
import { openWebhookSecrets } from "./webhooks.ts";

interface SendDeliveriesParts extends DeliverParts {
  sql: Database;
  log: Logger;
}

/** When notified that one waits, and at regular intervals, since a notification may be lost; until disposed. */
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

/** Tries all due deliveries, one of each webhook at a time. @returns how many were tried */
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
  /** Calls public hosts only, and follows no redirect. */
  callWebhook: SafeFetch;
  keyring: Keyring;
  clock: Clock;
}

/** Never rejects. A status of 2xx is delivered; everything else is tried again until its time is over. */
export async function deliver(due: DueDelivery, { callWebhook, keyring, clock }: DeliverParts): Promise<Outcome> {
  try {
    const signature = sign({ body: due.body, nowMs: clock.now(), secrets: openWebhookSecrets(due, keyring) });
    const { status } = await callWebhook({
      method: "POST",
      url: new URL(due.url),
      headers: { "content-type": "application/json", [signatureHeader]: signature },
      body: due.body,
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
 * replaced, there is a `v1` of each.
 */
function sign({ body, nowMs, secrets }: { body: string; nowMs: number; secrets: readonly Secret[] }): string {
  const seconds = Math.floor(nowMs / 1_000);
  const signatures = secrets.map((secret) => createHmac("sha256", secret.reveal()).update(`${seconds}.${body}`).digest("hex"));
  return [`t=${seconds}`, ...signatures.map((signature) => `v1=${signature}`)].join(",");
}

function stateAfterFailure({ dueAt, until }: DueDelivery): Outcome["state"] {
  return dueAt.getTime() > until.getTime() ? "given_up" : "waiting";
}

/** A code, never the text of an error, which may have a part of the answer. */
function failureOf(error: unknown): string {
  if (error instanceof PrivateAddressError || error instanceof BaseUrlError) return "private_address";
  if (error instanceof DeadlineError) return "timeout";
  if (error instanceof TooLargeError) return "answer_too_large";
  return error instanceof SealError ? "secret_unavailable" : "unreachable";
}
