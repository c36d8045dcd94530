/**
 * Calls a platform's API, with the same retries, limits and messages for all platforms.
 *
 * Redirects of renamed repositories are followed within the platform's host; a token is sent to no other host. It waits for the end of a
 * short rate limit; a longer one is an error that says when it ends. Answers are limited in size before they are parsed. Sources of the
 * limits: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit,
 * https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/#response-headers
 */
import { DomainError } from "../../accounts/errors.ts";
import { BaseUrlError } from "../../http/public-address.ts";
import { PrivateAddressError, TooLargeError, type SafeFetch, type SafeResponse } from "../../http/safe-fetch.ts";
import { isoTime, sleep, type Clock } from "../../kernel/clock.ts";
import * as limits from "../limits.ts";
import type { JsonValue } from "../sboms/json.ts";

interface HostApiParts {
  call: SafeFetch;
  clock: Clock;
  /** The address of the API, without a trailing slash. */
  base: string;
  headers: Record<string, string>;
  /** The platform's name in messages. */
  title: string;
  /** The repository's name in messages. */
  repository: string;
  hasToken: boolean;
  /** Aborted when the caller stops waiting. */
  signal: AbortSignal;
}

interface HostRequest {
  /** Below the base address, with its query. */
  path: string;
  bytesMax: number;
  headers?: Record<string, string>;
}

export class HostApi {
  readonly #parts: HostApiParts;

  constructor(parts: HostApiParts) {
    this.#parts = parts;
  }

  /** @throws DomainError unless the platform answers 200; its cause is a TooLargeError if the answer is too large */
  async get({ path, bytesMax, headers = {} }: HostRequest): Promise<SafeResponse> {
    let url = new URL(`${this.#parts.base}${path}`);
    let redirects = 0;
    for (let tries = 1; ;) {
      const answer = await this.#tried({ url, bytesMax, headers, isLast: tries >= limits.repositoryTriesMax });
      if (answer?.status === 200) return answer;
      const moved = answer === null ? null : this.#movedTo(answer, url);
      if (moved === null) {
        await this.#wait(answer, tries++);
      } else {
        if (++redirects > limits.repositoryRedirectsMax) throw this.#refusal("redirects endlessly");
        url = moved;
      }
    }
  }

  /** @throws DomainError also for an answer that is not JSON */
  async json(request: HostRequest): Promise<{ value: JsonValue; answer: SafeResponse }> {
    const answer = await this.get(request);
    try {
      return { value: jsonOf(answer.body.toString()), answer };
    } catch {
      throw this.#refusal("gave an answer that is not JSON");
    }
  }

  /** The error for an answer without the documented content. */
  unexpected(what: string): DomainError {
    return this.#refusal(`gave an answer without ${what}`);
  }

  /** @returns null if there was no answer and the call may be retried */
  async #tried({
    url,
    bytesMax,
    headers,
    isLast,
  }: {
    url: URL;
    bytesMax: number;
    headers: Record<string, string>;
    isLast: boolean;
  }) {
    const { call, headers: always, signal } = this.#parts;
    if (signal.aborted) throw this.#refusal("did not give everything in time");
    try {
      const bounds = { answerBytesMax: bytesMax, deadlineMs: limits.repositoryCallMs, what: "The answer" };
      return await call({ method: "GET", url, headers: { ...always, ...headers }, ...bounds });
    } catch (error) {
      if (error instanceof TooLargeError) throw this.#refusal(`gave an answer larger than ${bytesMax} bytes`, error);
      if (error instanceof PrivateAddressError || error instanceof BaseUrlError)
        throw this.#refusal("is not at a publicly reachable address");
      if (isLast) throw this.#refusal("does not answer: try again later");
      return null;
    }
  }

  /** Renamed repositories redirect; a token is sent to no other host. */
  #movedTo({ status, headers }: SafeResponse, from: URL): URL | null {
    if (![301, 302, 307, 308].includes(status)) return null;
    const to = headers.location ? URL.parse(headers.location, from.href) : null;
    if (to === null || to.origin !== from.origin) throw this.#refusal("redirects to another host, which is not followed");
    return to;
  }

  /** Waits out a temporary refusal. @throws DomainError for a permanent one, or one that lasts too long */
  async #wait(answer: SafeResponse | null, tries: number): Promise<void> {
    const { clock, signal } = this.#parts;
    const now = clock.now();
    const until = answer === null ? null : limitedUntil(answer, now);
    if (until === null && answer !== null && answer.status < 500) throw this.#refusalOf(answer.status);
    const waitMs = until === null ? limits.repositoryRetryMs : until - now;
    if (until !== null && (waitMs > limits.repositoryWaitMsMax || tries >= limits.repositoryTriesMax)) throw this.#limited(until);
    if (tries >= limits.repositoryTriesMax) throw this.#refusal(`answers with status ${answer?.status ?? 0}: try again later`);
    await sleep(clock, Math.max(waitMs, 0), signal);
  }

  #limited(until: number): DomainError {
    const advice = this.#parts.hasToken
      ? ""
      : `, or connect the workspace to ${this.#parts.title} with a token, which is allowed more`;
    return this.#refusal(`accepts no more calls until ${isoTime(Math.ceil(until / 1000) * 1000)}: try again then${advice}`);
  }

  #refusalOf(status: number): DomainError {
    const { title, repository, hasToken } = this.#parts;
    if (status === 401) {
      return this.#refusal(
        hasToken
          ? "refused the token of the workspace's connection: replace it"
          : "requires a token: connect the workspace to it",
      );
    }
    if (status === 403) {
      return this.#refusal(
        hasToken ? `does not let the workspace's token read ${repository}: it needs to read its contents` : "refused the call",
      );
    }
    if (status === 409) return new DomainError("invalid_field", `The repository ${repository} is empty at ${title}`);
    if (status === 404) {
      const unseen = hasToken ? "the workspace's token may not see it" : "it is private: then connect the workspace with a token";
      return new DomainError("invalid_field", `There is no repository ${repository} at ${title}, or ${unseen}`);
    }
    return this.#refusal(`answers with status ${status}`);
  }

  #refusal(problem: string, cause?: unknown): DomainError {
    return new DomainError("invalid_field", `${this.#parts.title} ${problem}`, { cause });
  }
}

/** The wait after a refusal without a time. */
const withoutWordMs = 60_000;

/** JSON.parse returns only these kinds of values. */
function jsonOf(text: string): JsonValue {
  return JSON.parse(text) as JsonValue;
}

/** @returns milliseconds since the epoch; null if the answer is not about a rate limit */
function limitedUntil({ status, headers, body }: SafeResponse, nowMs: number): number | null {
  if (status !== 403 && status !== 429) return null;
  const retryAfter = seconds(headers["retry-after"]);
  if (retryAfter !== null) return nowMs + retryAfter * 1000;
  if (headers["x-ratelimit-remaining"] === "0" || headers["ratelimit-remaining"] === "0") {
    const reset = seconds(headers["x-ratelimit-reset"]) ?? seconds(headers["ratelimit-reset"]);
    return reset === null ? nowMs + withoutWordMs : Math.max(reset * 1000, nowMs);
  }
  // GitHub may mention secondary limits only in the text.
  const isSaid = status === 429 || /rate limit/i.test(body.subarray(0, 2_000).toString());
  return isSaid ? nowMs + withoutWordMs : null;
}

function seconds(header: string | string[] | undefined): number | null {
  return typeof header === "string" && /^\d{1,12}$/.test(header) ? Number(header) : null;
}
