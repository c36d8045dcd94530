/**
 * Composes a gateway with some of its features: the parts of src as src/server/front.ts composes them, with stand-ins for the features
 * that a step does not have yet, since src has no switches for them.
 */
import { join } from "node:path";
import type { Admission, Caller, RequestFacts } from "../../src/gateway/admission/message.ts";
import { AdmissionClient } from "../../src/gateway/admission/client.ts";
import type { Backing } from "../../src/backing/backing.ts";
import type { Bus } from "../../src/backing/bus.ts";
import { EmbeddedBus } from "../../src/backing/embedded/bus.ts";
import { EmbeddedCounters } from "../../src/backing/embedded/counters.ts";
import type { Config } from "../../src/config.ts";
import { GenerationJournal } from "../../src/gateway/journal/journal.ts";
import { UnpaidWork } from "../../src/gateway/api/call/charged-usage.ts";
import { DrainLimit } from "../../src/gateway/api/answer/drains.ts";
import type { Gateway } from "../../src/gateway/api/gateway.ts";
import { tokenCountLimits } from "../../src/gateway/api/count-tokens.ts";
import { UncountedPrompts } from "../../src/gateway/api/uncounted-prompts.ts";
import { InFlightRequests } from "../../src/gateway/api/in-flight-requests.ts";
import { bodyBudget } from "../../src/gateway/api/request/body.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import { hashKey, keyPrefix, newGenerationId, newRequestId } from "../../src/kernel/ids.ts";
import type { Logger } from "../../src/kernel/log.ts";
import { RouteCoolDown, RouteHealth, RouteSpeeds } from "../../src/gateway/models/route-health.ts";
import type { Models } from "../../src/gateway/models/models.ts";
import { embeddingCalls } from "../../src/gateway/providers/embed.ts";
import { providerCalls } from "../../src/gateway/providers/http.ts";
import { startAdmission } from "../../workers/admission.ts";
import { ConfirmingBus } from "./confirming-bus.ts";
import type { ComposedStep } from "./steps.ts";

export interface ComposeParts {
  step: ComposedStep;
  config: Config;
  /** The backing services of the fleet. */
  backing: Backing;
  models: Models;
  clock: Clock;
  log: Logger;
  /** The folder of the spool. */
  folder: string;
  /** A valid key, and a model. The stand-in for admission repeats an admission with them. */
  key: string;
  model: string;
}

const isOneOf = (step: ComposedStep, ...steps: ComposedStep[]): boolean => steps.includes(step);

const silentJournal = { recordIntents: ignore, onReport: ignore, onMissed: ignore, noteAdmission: ignore, useBlocks: ignore };

export async function compose(parts: ComposeParts, stack: AsyncDisposableStack): Promise<Gateway> {
  const { step, config, clock, log, models } = parts;
  const bus = await busOf(parts, stack);
  const journal = new GenerationJournal({ bus, clock, log, folder: join(parts.folder, "spool") });
  const admissionJournal = isOneOf(step, "app", "key", "spool") ? silentJournal : journal;
  const admission = new AdmissionClient({ bus, clock, log, journal: admissionJournal, models });
  const { caller, admitted } = await admitOnce(admission, parts);
  const always = async (): Promise<Admission> => againWith(admitted, clock);
  const known = async (): Promise<Caller> => caller;
  return {
    admission: admissionOf({
      authenticate: step === "app" ? known : admission.authenticate.bind(admission),
      admit: isOneOf(step, "app", "key", "spool") ? always : admission.admit.bind(admission),
      release: admission.release.bind(admission),
    }),
    journal: isOneOf(step, "app", "key") ? noJournal : journal,
    prompts: { add() {} },
    keptAnswers: { keep() {}, find: () => Promise.resolve(null) },
    models,
    health: stack.use(new RouteHealth({ sql: parts.backing.sql, clock, log })),
    speeds: new RouteSpeeds(),
    uncountedPrompts: new UncountedPrompts(clock),
    coolDown: new RouteCoolDown(clock),
    ownKeys: { accepted() {}, refused() {} },
    serviceKeys: { accepted() {}, refused() {} },
    refused: { note() {} },
    usage: () => Promise.reject(new Error("The bench asks for no usage")),
    generation: () => Promise.reject(new Error("The bench asks for no generation")),
    call: providerCalls({ clock, clocks: config.clocks, providerKey: models.serviceKey }),
    embed: embeddingCalls({ clock, clocks: config.clocks, providerKey: models.serviceKey }),
    inFlight: new InFlightRequests(),
    count: () => Promise.reject(new Error("The bench asks for no count")),
    tokenCounts: tokenCountLimits(clock),
    bodies: bodyBudget(),
    drainLimit: new DrainLimit(),
    unpaid: new UnpaidWork(clock),
    clock,
    clocks: config.clocks,
    log,
    keyPrefix: keyPrefix(config.slug),
  };
}

/** The fleet's bus in the fleet's steps; before them, an embedded bus to an admission worker in the same process, with counters in memory. */
async function busOf({ step, backing, models, clock, log }: ComposeParts, stack: AsyncDisposableStack): Promise<Bus> {
  const forgotten = async (): Promise<void> => {};
  if (step === "events") return new ConfirmingBus(backing.bus, backing.bus.publish.bind(backing.bus));
  if (step === "fleet") return new ConfirmingBus(backing.bus, forgotten);
  const { sql } = backing;
  const bus = new ConfirmingBus(stack.use(new EmbeddedBus({ sql, clock, log })), forgotten);
  const counters = stack.use(new EmbeddedCounters(clock));
  stack.use(await startAdmission({ backing: { sql, reads: sql, bus }, counters, models, clock, log }));
  return bus;
}

async function admitOnce(admission: AdmissionClient, { key, model }: ComposeParts) {
  const caller = await admission.authenticate(hashKey(key));
  if (caller === null) throw new Error("The key is not valid");
  const wanted: RequestFacts = { model, inputTokens: 1_000, maxTokens: 16, tools: false };
  return { caller, admitted: await admission.admit(caller, wanted) };
}

/** Repeats the admission for another generation. */
function againWith({ reservation, ...facts }: Admission, clock: Clock): Admission {
  const now = clock.now();
  const ids = { generation: newGenerationId(now), request: newRequestId(now), admittedAt: now };
  return { ...facts, reservation: { ...reservation, ...ids } };
}

function ignore(): void {}

/** Has only the methods of the journal that a chat completion uses. When that changes, a test of the bench fails. */
const noJournal = journalOf({
  progress: { track() {}, noteUnsent() {}, noteSent() {} },
  async begin() {},
  async end() {},
  flush() {},
});

interface UsedJournal extends Pick<GenerationJournal, "begin" | "end" | "flush"> {
  progress: Pick<GenerationJournal["progress"], "track" | "noteUnsent" | "noteSent">;
}

function journalOf(journal: UsedJournal): GenerationJournal {
  return journal as GenerationJournal;
}

/** Like `journalOf`, for admission. */
function admissionOf(admission: Pick<AdmissionClient, "authenticate" | "admit" | "release">): AdmissionClient {
  return admission as AdmissionClient;
}
