import type { Clock } from "../../kernel/clock.ts";
import { newInternalId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import type { Survey } from "../bus.ts";
import { startBeat } from "./heartbeat.ts";
import type { NatsLink } from "./nats-link.ts";
import { reporterBeatSubject, surveySubject } from "./subjects.ts";

export interface ReporterParts {
  link: NatsLink;
  survey: Survey;
  handler: (payload: Uint8Array) => Uint8Array;
  clock: Clock;
  log: Logger;
}

/** Answers surveys until disposed. */
export function startReporting({ link, survey, handler, clock, log }: ReporterParts): Disposable {
  const id = newInternalId(clock.now());
  const subscription = link.subscribe(surveySubject(survey), ({ data, reply }) => {
    try {
      link.publish(`${reply}.${id}`, handler(data));
    } catch (error) {
      log.error({ event: "bus.report.failed", survey, reason: String(error) });
    }
  });
  const beat = startBeat({ link, clock, subject: reporterBeatSubject(survey), id });
  return {
    [Symbol.dispose]: () => {
      beat[Symbol.dispose]();
      void subscription[Symbol.asyncDispose]();
    },
  };
}
