/**
 * Test calls with an own key: each is the launch check of one model, which the provider bills to the workspace. Tests are counted per hour,
 * before the call, since many would show which of a stranger's keys are good. Providers take own keys only if their terms were checked and
 * they are in the subprocessor list, since customers' requests are passed on to them.
 */
import { DomainError } from "../../accounts/errors.ts";
import { providerKeyTestsPerHourMax } from "../../accounts/limits.ts";
import { countAct } from "../../accounts/quotas/hourly-acts.ts";
import type { Queries } from "../../backing/backing.ts";
import type { SafeFetch } from "../../http/safe-fetch.ts";
import type { Clock } from "../../kernel/clock.ts";
import { newGenerationId, newRequestId, type WorkspaceId } from "../../kernel/ids.ts";
import { nearest } from "../../kernel/text.ts";
import type { Secret } from "../../kernel/secret.ts";
import { probeTicket } from "../credit/reservation.ts";
import { probeOutputTokensMax } from "../limits.ts";
import type { Model, ProviderRecord, Route } from "../models/model.ts";
import type { Models } from "../models/models.ts";
import { chargedCost } from "../models/price.ts";
import type { CallProvider } from "../providers/http.ts";
import { refusingOutcomes, tryProviderKey } from "../providers/key-trial.ts";
import { launchCheckFailure } from "../providers/launch-check.ts";
import type { UpstreamFailure } from "../providers/provider.ts";

export interface TrySources {
  models: Pick<Models, "catalog" | "list">;
  /** Asks providers for their lists of models. */
  fetchProviders: SafeFetch;
  /** Calls providers with this key. */
  callWith(key: Secret): CallProvider;
  clock: Clock;
}

/** A model with its route at the provider. */
export interface TriedModel {
  model: Model;
  route: Route;
}

/**
 * The provider of an own key, which must be one that customers' requests may be passed on to.
 * @throws DomainError invalid_field naming `provider`; conflict while its terms have not been checked; unavailable without a catalog
 */
export function requireProvider(id: string, { models }: Pick<TrySources, "models">): ProviderRecord {
  const providers = catalogProviders(models);
  const provider = providers.get(id);
  if (!provider) {
    const near = nearest(id, [...providers.keys()]);
    const hint = near === undefined ? "" : `: the nearest known one is "${near}"`;
    throw new DomainError("invalid_field", `There is no provider "${id}"${hint}`, { field: "provider" });
  }
  if (!takesKey(provider)) {
    throw new DomainError("invalid_field", `The provider "${id}" takes no key`, { field: "provider" });
  }
  if (provider.disabled) throw new DomainError("conflict", `The operator has disabled "${id}"`);
  if (!isPassedOn(provider)) {
    throw new DomainError(
      "conflict",
      `Requests may not be passed on to "${id}" yet: its terms have not been checked by the operator`,
    );
  }
  return provider;
}

/** Chat models that the provider could serve, the cheapest test call first. */
export function candidatesOf({ id }: ProviderRecord, { models }: Pick<TrySources, "models">): TriedModel[] {
  const candidates = models.list().flatMap((model) => {
    if (model.kind !== "chat" || model.listedAs !== "available") return [];
    return model.routes.filter(({ provider, prices }) => provider.id === id && prices).map((route) => ({ model, route }));
  });
  const [first, second] = [-1, 1];
  return candidates.toSorted((a, b) => (testCost(a.route) < testCost(b.route) ? first : second));
}

/** @returns our error code; null: the provider answered */
export async function tryKey(tried: { key: Secret; candidate: TriedModel }, sources: TrySources): Promise<string | null> {
  return (await callOnce(tried, sources))?.code ?? null;
}

/** The launch check of a model with the key. @returns null: the provider answered */
export async function callOnce(
  { key, candidate }: { key: Secret; candidate: TriedModel },
  { callWith, clock }: Pick<TrySources, "callWith" | "clock">,
): Promise<UpstreamFailure | null> {
  const now = clock.now();
  const ticket = probeTicket({ generation: newGenerationId(now), request: newRequestId(now), nowMs: now });
  return launchCheckFailure({ ticket, model: candidate.model.id, route: candidate.route }, callWith(key));
}

/**
 * Counts a test of a key before its provider is called: many would show which of a stranger's keys are good.
 * @throws LimitReachedError with too many in an hour
 */
export function countKeyTest(workspace: WorkspaceId, sources: { sql: Queries; clock: Clock }): Promise<void> {
  return countAct({ workspace, act: "tests of provider keys", max: providerKeyTestsPerHourMax }, sources);
}

/**
 * One call of the provider's cheapest chat model.
 * @returns the model that answered
 * @throws DomainError conflict if the provider refuses it, or serves no chat model; unavailable if it does not answer
 * @throws LimitReachedError as `countKeyTest` does
 */
export async function requireAccepted(
  { key, provider, workspace }: { key: Secret; provider: ProviderRecord; workspace: WorkspaceId },
  sources: TrySources & { sql: Queries },
): Promise<TriedModel> {
  const [candidate] = candidatesOf(provider, sources);
  if (!candidate) throw new DomainError("conflict", `The catalog has no chat model of "${provider.id}" to test a key with`);
  await countKeyTest(workspace, sources);
  const failure = await callOnce({ key, candidate }, sources);
  if (failure === null) return candidate;
  const { code } = failure;
  const problem = code === "upstream_auth" ? await refusalOf({ key, provider }, failure, sources) : null;
  const words = problem ?? `${provider.name} ${testProblem(code)} (${candidate.model.id}: ${code})`;
  const isSilent = code === "upstream_error" || code === "upstream_timeout";
  throw new DomainError(isSilent ? "unavailable" : "conflict", `${words}; nothing was stored`);
}

/** Tells a wrong key from one of another region, or of an account without credit, by what costs nothing. @returns null: it is neither */
async function refusalOf(
  tried: { key: Secret; provider: ProviderRecord },
  failure: UpstreamFailure,
  { fetchProviders: fetch }: TrySources,
): Promise<string | null> {
  const { outcome, message } = await tryProviderKey(tried, { fetch, call: async () => failure });
  return refusingOutcomes.has(outcome) ? message : null;
}

/** A short question, and as much output as a test call may have. */
const testUsage = {
  promptTokens: probeOutputTokensMax,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: probeOutputTokensMax,
  reasoningTokens: 0,
};

function testCost({ prices }: Route): bigint {
  return prices === null ? 0n : chargedCost(prices, testUsage);
}

function testProblem(code: string): string {
  switch (code) {
    case "upstream_auth":
      return "refused the key or its account in the test call";
    case "upstream_rate_limited":
      return "did not answer the test call, for the key has reached a rate limit or its quota";
    case "upstream_rejected":
      return "rejected the test call";
    default:
      return "did not answer the test call";
  }
}

// Providers

/** @throws DomainError unavailable */
function catalogProviders(models: Pick<Models, "catalog">): ReadonlyMap<string, ProviderRecord> {
  const providers = models.catalog()?.providers;
  if (!providers) throw new DomainError("unavailable", "The catalog cannot be read at present: try again shortly");
  return providers;
}

/** Whether there is a key that a workspace could replace. */
function takesKey({ keyEnv }: ProviderRecord): boolean {
  return keyEnv !== null;
}

/** Whether customers' requests may be passed on to it. */
function isPassedOn({ termsChecked, subprocessorListed, disabled }: ProviderRecord): boolean {
  return termsChecked && subprocessorListed && !disabled;
}
