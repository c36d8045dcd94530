/** One attempt at a delivery. Nothing of the answer is kept but its status. */
import { BaseUrlError } from "../../../http/outbound/base-url.ts";
import { PrivateAddressError, TooLargeError, type SafeFetch } from "../../../http/outbound/safe-fetch.ts";
import { DeadlineError, type Clock } from "../../../kernel/clock.ts";
import { SealError } from "../../../kernel/seal-key.ts";
import { alertAnswerBytesMax, alertCallMs } from "../../limits.ts";
import type { Keyring } from "../../secrets/keyring.ts";
import type { DueDelivery, Outcome } from "./delivery-store.ts";
import { openWebhookSecrets } from "./sealed-secret.ts";
import { sign, signatureHeader } from "./sign.ts";

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
