/** Serves requests under a subject of its own, for as long as it sends heartbeats. */
import type { Msg } from "nats";
import { withDeadline, type Clock } from "../../kernel/clock.ts";
import { newInternalId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import { admissionDeadlineMs, busRepliesInFlightMax } from "../limits.ts";
import type { Service } from "../bus.ts";
import { startHeartbeat } from "./heartbeat.ts";
import type { NatsLink } from "./nats-link.ts";
import { requestHeartbeatSubject, requestSubject } from "./subjects.ts";

export interface RequestServerParts {
  link: NatsLink;
  service: Service;
  handler: (payload: Uint8Array) => Promise<Uint8Array>;
  /** When it resolves, clients are told of the server. */
  ready: Promise<void>;
  clock: Clock;
  log: Logger;
}

/** Replies until disposed: then it says goodbye, and completes the requests that it has received. */
export function startRequestServer({ link, service, handler, ready, clock, log }: RequestServerParts): AsyncDisposable {
  const id = newInternalId(clock.now());
  const inFlight = new Set<Promise<void>>();
  const replyTo = async (request: Msg): Promise<void> => {
    try {
      link.publish(request.reply ?? "", await handler(request.data));
    } catch (error) {
      log.error({ event: "bus.answer.failed", service, reason: String(error) });
    }
  };
  const subscription = link.subscribe(requestSubject(service, id), (request) => {
    // Above the bound a request gets no reply, and its client tries another server: a reply would come too late anyway.
    if (inFlight.size >= busRepliesInFlightMax) return;
    const replying = replyTo(request).finally(() => inFlight.delete(replying));
    inFlight.add(replying);
  });
  const heartbeats = new DisposableStack();
  const announce = (): void => {
    if (!heartbeats.disposed) heartbeats.use(startHeartbeat({ link, clock, subject: requestHeartbeatSubject(service), id }));
  };
  void ready.then(announce);
  return {
    async [Symbol.asyncDispose]() {
      heartbeats.dispose();
      await subscription[Symbol.asyncDispose]();
      await withDeadline(clock, admissionDeadlineMs, "Replying to requests", Promise.all(inFlight)).catch(() => {});
    },
  };
}
