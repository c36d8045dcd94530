/**
 * The services that the inference API uses, made once for each process by `src/server`. Endpoints take them from here and construct nothing
 * themselves, so that tests and the simulation can replace them.
 */
import type { AdmissionClient } from "../admission/client.ts";
import type { Clocks } from "../../config.ts";
import type { GenerationJournal } from "../journal/journal.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import type { RouteCoolDown, RouteHealth, RouteSpeeds } from "../models/route-health.ts";
import type { Models } from "../models/models.ts";
import type { KeyReports } from "../own-keys/key-reports.ts";
import type { ServiceKeyReports } from "../service-keys/call-reports.ts";
import type { KeptAnswers } from "../prompts/kept-answers.ts";
import type { PromptQueue } from "../prompts/prompt-queue.ts";
import type { RefusedCalls } from "../refusals/refused-calls.ts";
import type { CallEmbeddings } from "../providers/embed.ts";
import type { ReadKeyGeneration } from "../generations/generations.ts";
import type { ReadKeyUsage } from "../usage/usage.ts";
import type { CallProvider, CountPrompt } from "../providers/http.ts";
import type { CallRateLimiter } from "../../accounts/quotas/call-rate-limiter.ts";
import type { ByteBudget } from "../../accounts/quotas/byte-budget.ts";
import type { FairSemaphore } from "../../accounts/quotas/fair-semaphore.ts";
import type { UnpaidWork } from "./call/charged-usage.ts";
import type { DrainLimit } from "./answer/drains.ts";
import type { InFlightRequests } from "./in-flight-requests.ts";
import type { UncountedPrompts } from "./uncounted-prompts.ts";

export interface Gateway {
  admission: AdmissionClient;
  journal: GenerationJournal;
  /** Takes the prompts of workspaces that store them. */
  prompts: Pick<PromptQueue, "add">;
  /** Keeps answers to requests with an idempotency key, of workspaces that want it. */
  keptAnswers: Pick<KeptAnswers, "keep" | "find">;
  models: Models;
  health: Pick<RouteHealth, "recordAnswer" | "recordFailure" | "measure">;
  speeds: RouteSpeeds;
  coolDown: RouteCoolDown;
  call: CallProvider;
  embed: CallEmbeddings;
  count: CountPrompt;
  /** Learns from calls how providers take own keys. */
  ownKeys: Pick<KeyReports, "accepted" | "refused">;
  /** Learns from calls how providers take the service's keys. */
  serviceKeys: Pick<ServiceKeyReports, "accepted" | "refused">;
  /** Sums what a key used. */
  usage: ReadKeyUsage;
  /** Reads a generation of a key. */
  generation: ReadKeyGeneration;
  /** Takes the calls that were refused. */
  refused: Pick<RefusedCalls, "note">;
  inFlight: InFlightRequests;
  /** Counts the bytes of all request bodies until their providers have answered. */
  bodies: ByteBudget;
  uncountedPrompts: Pick<UncountedPrompts, "keep">;
  /** Bounds the counts of tokens that a key asks for: in a minute, and at once. */
  tokenCounts: { perMinute: CallRateLimiter; turns: FairSemaphore };
  drainLimit: DrainLimit;
  unpaid: UnpaidWork;
  clock: Clock;
  clocks: Clocks;
  log: Logger;
  /** Prefix of every key, such as `platform-api-`. */
  keyPrefix: string;
}
