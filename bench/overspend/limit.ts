/** The limits of the overspend test: a budget for some requests, or some requests a minute, and far more requests at once. */

/** "budget": money for `requestsAllowed` requests; "rate": so many requests a minute. */
export type Limit = "budget" | "rate";

/** A new key with a limit. */
export interface LimitedKey {
  /** The URL of chat completions. */
  url: string;
  key: string;
  /** The gateway's name for the model. */
  model: string;
}

export const requestsAllowed = 20;
export const requestsAtOnce = 200;

/** Every answer has as many tokens as `max_tokens` allows, and only they have a price, so that the most a request can cost is what it costs. */
export const outputTokens = 16;
export const outputUsdPerMillion = 2;

const millionth = 1e-6;
export const outputUsdPerToken = outputUsdPerMillion * millionth;
/** What exactly the allowed requests cost. */
export const budgetUsd = Number((requestsAllowed * outputTokens * outputUsdPerToken).toFixed(9));

/** Answers at once. */
export const instantLimited = `instant-${outputTokens}`;
/** Streams for 0.8 seconds, so that all requests are in flight at the same time. */
export const pacedLimited = `paced-50-${outputTokens}`;
export const limitedModels = [instantLimited, pacedLimited] as const;
