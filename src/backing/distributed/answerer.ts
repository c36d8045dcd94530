/** Serves questions under a subject of its own and on shortcuts, for as long as it beats. */
import { withDeadline, type Clock } from "../../kernel/clock.ts";
import { newInternalId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import { admissionDeadlineMs, answersInFlightMax } from "../../limits/constants.ts";
import type { Service } from "../bus.ts";
import { startBeat } from "./beat.ts";
import type { NatsLink } from "./nats-link.ts";
import { ShortcutHost } from "./shortcuts/host.ts";
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
  const answer = async (payload: Uint8Array, reply: (answer: Uint8Array) => void): Promise<void> => {
    try {
      reply(await handler(payload));
    } catch (error) {
      log.error({ event: "bus.answer.failed", service, reason: String(error) });
    }
  };
  const take = (payload: Uint8Array, reply: (answer: Uint8Array) => void): void => {
    // Who asked too much hears nothing and goes elsewhere: an answer would come too late anyway.
    if (underWay.size >= answersInFlightMax) return;
    const answering = answer(payload, reply).finally(() => underWay.delete(answering));
    underWay.add(answering);
  };
  const subscription = link.subscribe(askSubject(service, id), ({ data, reply = "" }) =>
    take(data, (payload) => link.publish(reply, payload)),
  );
  const shortcuts = new ShortcutHost({ link, clock, log, take });
  const beat = startBeat({ link, clock, subject: serverBeatSubject(service), id, offer: () => shortcuts.offer });
  return {
    async [Symbol.asyncDispose]() {
      beat[Symbol.dispose]();
      await subscription[Symbol.asyncDispose]();
      await withDeadline(clock, admissionDeadlineMs, "Answering", Promise.all(underWay)).catch(() => {});
      shortcuts[Symbol.dispose]();
    },
  };
}
