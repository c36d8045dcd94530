/**
 * Which processes of a fleet run, for people: each answers a call over the bus. An answer may be lost, so nothing is decided by it.
 */
import { Type, type Static } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { hostname } from "node:os";
import { isoTime, sleep, type Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { version } from "../process/version.ts";
import type { Bus } from "./bus.ts";
import { rollCallMs } from "./limits.ts";

export const RunningProcess = Type.Object({
  role: Type.String({
    description:
      "`gateway`, the kind of a worker (`background`: prober, mailer and scanner in one), or `service` where one process is everything",
  }),
  version: Type.String({ description: "The version of Weir that it runs" }),
  host: Type.String({ description: "The name of its machine or container" }),
  pid: Type.Integer({ description: "Its process id there" }),
  started_at: Type.String({ description: "When it started, ISO 8601 in UTC" }),
});
export type RunningProcess = Static<typeof RunningProcess>;

type RollBus = Pick<Bus, "broadcast" | "listen">;

interface Caller {
  bus: RollBus;
  clock: Clock;
}

/** Answers every call until disposed. */
export function answerRollCalls(role: string, { bus, clock, log }: Caller & { log: Logger }): Disposable {
  const self: RunningProcess = { role, version, host: hostname(), pid: process.pid, started_at: isoTime(clock.now()) };
  const answer = Buffer.from(JSON.stringify(self));
  return bus.listen("roll-call", () => {
    try {
      bus.broadcast("roll-answer", answer);
    } catch (error) {
      log.warn({ event: "roll.unanswered", reason: String(error) });
    }
  });
}

/** @returns the processes that answered in time, by role and start */
export async function callRoll({ bus, clock }: Caller): Promise<RunningProcess[]> {
  const answers = new Map<string, RunningProcess>();
  {
    using _listening = bus.listen("roll-answer", (payload) => {
      const answer: unknown = JSON.parse(Buffer.from(payload).toString());
      if (Value.Check(RunningProcess, answer))
        answers.set(`${answer.role} ${answer.host} ${answer.pid} ${answer.started_at}`, answer);
    });
    bus.broadcast("roll-call");
    await sleep(clock, rollCallMs);
  }
  const order = ({ role, started_at: startedAt }: RunningProcess): string => `${role} ${startedAt}`;
  return [...answers.values()].toSorted((one, other) => (order(one) < order(other) ? -1 : 1));
}
