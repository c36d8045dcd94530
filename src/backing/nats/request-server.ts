/** Serves questions under a subject of its own, for as long as it beats. */
import type { Msg } from "nats";
import { withDeadline, type Clock } from "../../kernel/clock.ts";
import { newInternalId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import { admissionDeadlineMs, answersInFlightMax } from "../limits.ts";
import type { Service } from "../bus.ts";
import { startBeat } from "./heartbeat.ts";
import type { NatsLink } from "./nats-link.ts";
import { askSubject, serverBeatSubject } from "./subjects.ts";

export interface AnswererParts {
  link: NatsLink;
  service: Service;
  handler: (payload: Uint8Array) => Promise<Uint8Array>;
  clock: Clock;
  log: Logger;
}

/** Answers until disposed: then it says goodbye, and finishes what it has. */
export function startAnswering({ link, service, handler, clock, log }: AnswererParts): AsyncDisposable {
  const id = newInternalId(clock.now());
  const underWay = new Set<Promise<void>>();
  const answer = async (message: Msg): Promise<void> => {
    try {
      link.publish(message.reply ?? "", await handler(message.data));
    } catch (error) {
      log.error({ event: "bus.answer.failed", service, reason: String(error) });
    }
  };
  const subscription = link.subscribe(askSubject(service, id), (message) => {
    // Who asked too much hears nothing and goes elsewhere: an answer would come too late anyway.
    if (underWay.size >= answersInFlightMax) return;
    const answering = answer(message).finally(() => underWay.delete(answering));
    underWay.add(answering);
  });
  const beat = startBeat({ link, clock, subject: serverBeatSubject(service), id });
  return {
    async [Symbol.asyncDispose]() {
      beat[Symbol.dispose]();
      await subscription[Symbol.asyncDispose]();
      await withDeadline(clock, admissionDeadlineMs, "Answering", Promise.all(underWay)).catch(() => {});
    },
  };
}
