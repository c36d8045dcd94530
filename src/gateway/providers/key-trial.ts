/**
 * Tries whether a provider accepts a key, at the least cost. The list of models costs nothing, so it is asked for first; it proves the key
 * only if the provider refuses it without one, which a second request shows. Where there is no such list, one launch check is called. A key
 * that is refused is tried at the vendor's other regions, where the catalog knows some: their keys look alike.
 *
 * The outcomes are told apart by statuses and documented words, never by showing the provider's text. A provider that cannot be reached, or
 * limits requests, says nothing about the key.
 */
import type { SafeFetch, SafeResponse } from "../../http/safe-fetch.ts";
import { DeadlineError } from "../../kernel/clock.ts";
import type { Secret } from "../../kernel/secret.ts";
import { keyTrialMs, modelListBytesMax } from "../limits.ts";
import type { ProviderRecord } from "../models/model.ts";
import type { UpstreamFailure } from "./provider.ts";
import { wireFormats } from "./registry.ts";

export const trialOutcomes = [
  "accepted",
  // There was nothing to try it with: the launch checks of its models tell.
  "unproven",
  "refused",
  "other_region",
  "not_served_here",
  "no_credit",
  "rate_limited",
  "timed_out",
  "unreachable",
  "failed",
] as const;
export type TrialOutcome = (typeof trialOutcomes)[number];

/** No call would succeed with the key. All others but `accepted` say nothing about it. */
export const refusingOutcomes: ReadonlySet<TrialOutcome | null> = new Set([
  "refused",
  "other_region",
  "not_served_here",
  "no_credit",
] as const);

export interface KeyTrial {
  outcome: TrialOutcome;
  /** What a person can do about it, as a sentence without a period. */
  message: string;
}

interface Tried {
  provider: ProviderRecord;
  key: Secret;
}

interface TrialSources {
  fetch: SafeFetch;
  /** One launch check with the key; null: the catalog has no model for it. @returns why it failed; null: the provider answered */
  call: (() => Promise<UpstreamFailure | null>) | null;
}

/** Costs at most one launch check, and that only where no list of models proves the key. */
export async function tryProviderKey(tried: Tried, sources: TrialSources): Promise<KeyTrial> {
  const { outcome, status, region } = await trial(tried, sources);
  return { outcome, message: trialMessage({ ...tried.provider, outcome, status, region }) };
}

interface Judged {
  outcome: TrialOutcome;
  /** The HTTP status, where it is all that is known. */
  status?: string;
  /** The other region that accepted the key. */
  region?: Region;
}

type Region = NonNullable<ProviderRecord["regions"]>[number];

async function trial(tried: Tried, sources: TrialSources): Promise<Judged> {
  const listed = await proofByList(tried, tried.provider.baseUrl, sources.fetch);
  const judged = listed === "no proof" ? await judgedByCall(sources) : listed;
  if (judged.outcome !== "refused") return judged;
  for (const region of tried.provider.regions ?? []) {
    const elsewhere = await proofByList(tried, region.baseUrl, sources.fetch);
    if (elsewhere !== "no proof" && elsewhere.outcome === "accepted") return { outcome: "other_region", region };
  }
  return judged;
}

async function judgedByCall({ call }: TrialSources): Promise<Judged> {
  if (call === null) return { outcome: "unproven" };
  const failure = await call();
  return failure === null ? { outcome: "accepted" } : judge(failure);
}

async function proofByList({ provider, key }: Tried, baseUrl: string, fetch: SafeFetch): Promise<Judged | "no proof"> {
  const { format } = wireFormats[provider.format];
  const url = new URL(`${baseUrl}/models${listQueries[provider.format] ?? ""}`);
  const ask = (headers: Record<string, string>): Promise<SafeResponse | Judged> => askFor(url, headers, fetch);
  const versions = provider.format === "anthropic" ? { "anthropic-version": "2023-06-01" } : {};
  const answer = await ask({ ...versions, ...format.authorization(key.reveal()) });
  if ("outcome" in answer) return answer;
  if (answer.status === 200) {
    const open = await ask(versions);
    const isProof = !("outcome" in open) && (open.status === 401 || open.status === 403 || open.status === 400);
    return isProof ? { outcome: "accepted" } : "no proof";
  }
  // A key may be allowed to call models and not to list them.
  if (noLists.has(answer.status)) return "no proof";
  const body = answer.body.toString("utf8");
  const judged = judge(format.classify(answer.status, body), body);
  return answer.status === 403 && judged.outcome === "refused" ? "no proof" : judged;
}

/** One row is enough. Others take no such parameter. */
const listQueries: Partial<Record<ProviderRecord["format"], string>> = { anthropic: "?limit=1", google: "?pageSize=1" };

/** The provider has no list of models at this address. */
const noLists: ReadonlySet<number> = new Set([404, 405, 410, 501]);

async function askFor(url: URL, headers: Record<string, string>, fetch: SafeFetch): Promise<SafeResponse | Judged> {
  const request = { method: "GET" as const, url, headers: { accept: "application/json", ...headers } };
  try {
    return await fetch({ ...request, answerBytesMax: modelListBytesMax, deadlineMs: keyTrialMs, what: "The list of models" });
  } catch (error) {
    return { outcome: error instanceof DeadlineError ? "timed_out" : "unreachable" };
  }
}

// What an answer means

/** OpenAI: the key's project has its data in a region, which has an address of its own. */
const regionWord = /\bincorrect_hostname\b/;
/** OpenAI and Google: they do not serve the country or network that the request comes from. */
const placeWord = /\bunsupported_country_region_territory\b/;
const placeMessage = /user location is not supported/i;
const creditWord =
  /\b(insufficient_quota|exceeded_current_quota_error|insufficient_balance|insufficient_credits|not_enough_balance|credit_limit|billing_\w+|arrearage|status 402)\b/;
const creditMessage = /credit balance is too low|insufficient (account )?(balance|credits?|funds|quota)|credits are depleted/i;

/** @param body matched only, and never shown */
function judge(failure: UpstreamFailure, body = ""): Judged {
  const words = failure.message;
  if (regionWord.test(words)) return { outcome: "other_region" };
  if (placeWord.test(words) || placeMessage.test(body)) return { outcome: "not_served_here" };
  if (failure.code === "upstream_auth") {
    return { outcome: creditWord.test(words) || creditMessage.test(body) ? "no_credit" : "refused" };
  }
  if (failure.code === "upstream_rate_limited") return { outcome: "rate_limited" };
  if (failure.code === "upstream_timeout") return { outcome: "timed_out" };
  if (words.startsWith("no connection")) return { outcome: "unreachable" };
  const status = /^status \d{3}/.exec(words)?.[0];
  return { outcome: "failed", ...(status !== undefined && { status }) };
}

/** What a failed call reveals about its key; null: the provider did not refuse it. */
export function refusalIn(failure: UpstreamFailure): TrialOutcome | null {
  const { outcome } = judge(failure);
  return failure.message.startsWith("status ") && refusingOutcomes.has(outcome) ? outcome : null;
}

/** What happened, and what to do: a sentence without a period. */
export function trialMessage({
  name,
  baseUrl,
  outcome,
  status,
  region,
}: Pick<ProviderRecord, "name" | "baseUrl"> &
  Pick<Judged, "outcome"> & { status?: string | undefined; region?: Region | undefined }): string {
  const { host } = new URL(baseUrl);
  switch (outcome) {
    case "accepted":
      return `${name} accepted the key`;
    case "unproven":
      return `${name} has nothing to try a key with; the launch checks of its models will show whether it works`;
    case "refused":
      return `${name} refused the key: check that all of it was copied, that it is a key of ${name}, and that it was not revoked`;
    case "other_region":
      return region === undefined
        ? `The key is right, but for another region of ${name}: ${host} does not take it. Use a key without a region, or change base_url in catalog-data/providers.json`
        : `The key is right, but for another region of ${name}: ${new URL(region.baseUrl).host} (${region.name}) takes it, ${host} does not. Use a key of ${host}, or change base_url in catalog-data/providers.json`;
    case "not_served_here":
      return `${name} does not serve the country or network that this service calls from. That says nothing about the key`;
    case "no_credit":
      return `${name} knows the key, but its account has no credit or is not active: pay there, then try again`;
    case "rate_limited":
      return `${name} limits requests at present, so the key could not be tried: wait a minute, then try again`;
    case "timed_out":
      return `${name} did not answer within ${keyTrialMs / 1_000} seconds, so nothing is known about the key: try again`;
    case "unreachable":
      return `${host} cannot be reached from this service, so nothing is known about the key: check its network, proxy and DNS`;
    case "failed":
      return `${name} answered with an error${status === undefined ? "" : ` (${status})`}, so nothing is known about the key: try again`;
  }
}
