/** Delivers alerts to webhooks, in every process that serves HTTP: those have the keys that open secrets. */
import type { Database } from "../../../backing/backing.ts";
import type { Bus } from "../../../backing/bus.ts";
import type { Logger } from "../../../kernel/log.ts";
import { repeatUntilStopped } from "../../../kernel/repeat.ts";
import { alertDeliveriesAtOnce, alertDeliveryPollMs } from "../../limits.ts";
import { deliver, type DeliverParts } from "./deliver.ts";
import { beginDeliveries, recordOutcome, type DueDelivery } from "./delivery-store.ts";

export interface SendDeliveriesParts extends DeliverParts {
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

async function send(due: DueDelivery, parts: SendDeliveriesParts): Promise<void> {
  const { alert, webhook, attempts } = due;
  const outcome = await deliver(due, parts);
  await recordOutcome({ alert, webhook, attempts, ...outcome }, parts.sql);
  const { state, status, failure } = outcome;
  const told = { alert, webhook, attempts, status, failure };
  if (state === "delivered") parts.log.info({ event: "alert.delivered", ...told });
  else parts.log.warn({ event: state === "waiting" ? "alert.put_off" : "alert.given_up", ...told });
}
