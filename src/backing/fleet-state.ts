/**
 * The state of a fleet, for people: `weir status` and the Console's page Fleet show which processes run, their version and schema, how
 * many requests they answer, what is late and which alarms they raised. Each process answers a call over the bus. A process that does not
 * answer in time is missing, not dead, and an answer may be lost, so no decision rests on this.
 */
import { hostname } from "node:os";
import { Type, type Static } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { isoTime, sleep, type Clock, withDeadline } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { answeredRequests, gaugeReading, raisedAlarms } from "../kernel/metrics.ts";
import { AlarmCount, type HealthState } from "../process/health.ts";
import { RequestRate } from "../process/request-rate.ts";
import { version } from "../process/version.ts";
import type { Backing } from "./backing.ts";
import type { Bus } from "./bus.ts";
import { rollCallMs, fleetQuestionMs } from "./limits.ts";
import { readSchemaState, SchemaView } from "./migrate.ts";

const RunningProcess = Type.Object({
  role: Type.String({
    description:
      "`gateway`, the kind of a worker (`background`: prober, mailer and scanner in one), or `service` where one process is everything",
  }),
  version: Type.String({ description: "The version of Weir that it runs" }),
  host: Type.String({ description: "The name of its machine or container" }),
  pid: Type.Integer({ description: "Its process id there" }),
  started_at: Type.String({ description: "When it started, ISO 8601 in UTC" }),
  requests_per_second: Type.Optional(
    Type.Union([Type.Number(), Type.Null()], {
      description: "Requests to the inference API that it answered a second, in the last minute; null: it serves none",
    }),
  ),
  lag_seconds: Type.Optional(
    Type.Union([Type.Number(), Type.Null()], {
      description: "How long settlements have waited without one being booked; null: it books none",
    }),
  ),
  alarms: Type.Optional(Type.Array(AlarmCount, { description: "The alarms that it raised since it started" })),
});
type RunningProcess = Static<typeof RunningProcess>;

type RollBus = Pick<Bus, "broadcast" | "listen">;

interface Caller {
  bus: RollBus;
  clock: Clock;
}

/** The roles that answer requests to the inference API. */
const servingRoles: readonly string[] = ["gateway", "service"];

/** Answers every call until disposed. */
export function answerRollCalls(role: string, { bus, clock, log }: Caller & { log: Logger }): Disposable {
  const self: RunningProcess = { role, version, host: hostname(), pid: process.pid, started_at: isoTime(clock.now()) };
  const stack = new DisposableStack();
  const rate = servingRoles.includes(role) ? stack.use(new RequestRate({ clock, read: answeredRequests })) : null;
  const answer = async (): Promise<void> => {
    const figures = {
      requests_per_second: rate === null ? null : await rate.perSecond(),
      lag_seconds: await gaugeReading("weir_metering_lag_seconds"),
      alarms: await raisedAlarms(),
    };
    bus.broadcast("roll-answer", Buffer.from(JSON.stringify({ ...self, ...figures })));
  };
  const unanswered = (error: unknown): void => log.warn({ event: "roll.unanswered", reason: String(error) });
  stack.use(bus.listen("roll-call", () => void answer().catch(unanswered)));
  return stack;
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

/** The facts that an operator needs before and after a change. */
export const FleetView = Type.Object({
  ok: Type.Boolean({ description: "Whether there is no problem; `weir status` exits 1 otherwise" }),
  problems: Type.Array(Type.String(), { description: "What needs a person, one sentence each" }),
  version: Type.String({ description: "The version of the process that answers" }),
  ready: Type.Boolean({ description: "Whether the process that answers can serve" }),
  processes: Type.Array(RunningProcess, { description: "The processes that answered within half a second" }),
  schema: Type.Union([SchemaView, Type.Null()], { description: "The database's schema; null: it cannot be read" }),
  settlements_waiting: Type.Union([Type.Integer(), Type.Null()], {
    description: "Settlements that are not in the ledger yet; null: it cannot be read",
  }),
});
export type FleetView = Static<typeof FleetView>;

interface Sources {
  backing: Backing;
  clock: Clock;
  /** The health of the process that answers. */
  health: () => Promise<HealthState>;
  /** The roles that need at least one process. */
  roles: readonly string[];
}

/** The work of a fleet, by the role of the process that does only this work. */
export const fleetRoles = ["gateway", "admission", "metering", "prober", "mailer", "scanner"] as const;

/** The work of the role `background`: three roles in one process. */
export const backgroundRoles: readonly string[] = ["prober", "mailer", "scanner"];

/** Never rejects: what cannot be read is a problem. */
export function fleetState({ backing, clock, health, roles }: Sources): () => Promise<FleetView> {
  const ask = <T>(what: string, question: () => Promise<T>): Promise<T | null> =>
    withDeadline(clock, fleetQuestionMs, what, question()).catch(() => null);
  return async () => {
    const [{ ready, states }, processes, schema, backlog] = await Promise.all([
      health(),
      ask("The roll", async () => callRoll({ ...backing, clock })),
      ask("The schema", async () => readSchemaState(backing.sql)),
      ask("The backlog", async () => backing.bus.backlog("settlements")),
    ]);
    const waiting = backlog?.messages ?? null;
    const facts = { version, ready, processes: processes ?? [], schema, settlements_waiting: waiting };
    const problems = [...partProblems(ready, states), ...schemaProblems(schema), ...processProblems(facts.processes, roles)];
    if (waiting === null) problems.push("The queue of settlements cannot be read");
    return { ok: problems.length === 0, problems, ...facts };
  };
}

function partProblems(ready: boolean, states: Record<string, string>): string[] {
  const failing = Object.entries(states).flatMap(([name, state]) => (state === "ok" ? [] : [`${name}: ${state}`]));
  return ready || failing.length > 0 ? failing : ["The process that answers is stopping"];
}

function schemaProblems(schema: FleetView["schema"]): string[] {
  if (schema === null) return ["The database's schema cannot be read"];
  const { missing, unknown } = schema;
  const older = `The database lacks ${missing.length} of this version's migrations: weir migrate applies them`;
  const newer = `The database has ${unknown.length} migrations that this version does not know: a newer version was started`;
  return [...(missing.length > 0 ? [older] : []), ...(unknown.length > 0 ? [newer] : [])];
}

function processProblems(processes: readonly RunningProcess[], roles: readonly string[]): string[] {
  const running = new Set(processes.flatMap(({ role }) => (role === "background" ? backgroundRoles : [role])));
  const missing = roles.filter((role) => !running.has(role));
  const versions = [...new Set(processes.map((process) => process.version))].toSorted();
  const mixed = versions.length > 1 ? [`Several versions run: ${versions.join(", ")}`] : [];
  return [...missing.map((role) => `No process answers as ${role}`), ...mixed];
}
