import type { Clock } from "../../kernel/clock.ts";
import { newInternalId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import type { ScatterService } from "../bus.ts";
import { startHeartbeat } from "./heartbeat.ts";
import type { NatsLink } from "./nats-link.ts";
import { scatterHeartbeatSubject, scatterSubject } from "./subjects.ts";

export interface ScatterServerParts {
  link: NatsLink;
  service: ScatterService;
  handler: (payload: Uint8Array) => Uint8Array;
  clock: Clock;
  log: Logger;
}

/** Replies to scattered requests until disposed. */
export function startScatterServer({ link, service, handler, clock, log }: ScatterServerParts): Disposable {
  const id = newInternalId(clock.now());
  const subscription = link.subscribe(scatterSubject(service), ({ data, reply }) => {
    try {
      link.publish(`${reply}.${id}`, handler(data));
    } catch (error) {
      log.error({ event: "bus.report.failed", service, reason: String(error) });
    }
  });
  const heartbeat = startHeartbeat({ link, clock, subject: scatterHeartbeatSubject(service), id });
  return {
    [Symbol.dispose]: () => {
      heartbeat[Symbol.dispose]();
      void subscription[Symbol.asyncDispose]();
    },
  };
}
