/**
 * The calls of one reading of a vendor's list, and its pages.
 *
 * A list is paged in the vendor's way. The next page must be on the host of the first, since each page is asked for with the credentials.
 * Requests, bytes, time and waits are bounded, so that no vendor can hold a process. What a vendor puts off is asked for again within these
 * bounds. An answer in another form than the documented one ends the reading: half a list would pass for a whole one. No text of the vendor
 * is in an error.
 */
import type { IncomingHttpHeaders } from "node:http";
import { isJsonObject, scanJson, type JsonObject } from "../../http/json.ts";
import { nextLink, type SafeFetch, type SafeResponse } from "../../http/safe-fetch.ts";
import { sleep, type Clock } from "../../kernel/clock.ts";
import * as limits from "../limits.ts";
import { requestToken, type ProbeFetch, type TokenRequest, VendorError } from "./probe.ts";

interface CallsParts {
  callVendors: SafeFetch;
  clock: Clock;
  /** Ends waits, so that a process can stop. */
  signal?: AbortSignal;
}

export interface VendorAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** undefined: it is no JSON. */
  json: unknown;
}

/** The calls of one reading, bounded together. */
export class VendorCalls {
  readonly #parts: CallsParts;
  readonly #endsAt: number;
  #calls = 0;
  #bytes = 0;
  #retries = 0;

  constructor(parts: CallsParts) {
    this.#parts = parts;
    this.#endsAt = parts.clock.monotonic() + limits.peopleReadingMs;
  }

  get clock(): Clock {
    return this.#parts.clock;
  }

  get(url: URL, headers: Record<string, string>): Promise<VendorAnswer> {
    return this.#repeated({ method: "GET", url, headers });
  }

  /** For what changes nothing, such as a token that ends by itself. */
  post(url: URL, { headers, json }: { headers: Record<string, string>; json: object }): Promise<VendorAnswer> {
    return this.#repeated({
      method: "POST",
      url,
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(json),
    });
  }

  /** Repeats what the vendor puts off, as often and as long as the bounds allow. */
  async #repeated(request: Parameters<ProbeFetch>[0]): Promise<VendorAnswer> {
    for (;;) {
      const { status, headers: answered, body } = await this.#send(request);
      const answer = { status, headers: answered, json: jsonIn(body) };
      const waitMs = waitOf(answer, { nowMs: this.clock.now(), retries: this.#retries });
      if (waitMs === null || !this.#mayWait(waitMs)) return answer;
      this.#retries++;
      await sleep(this.clock, waitMs, this.#parts.signal);
    }
  }

  /** @throws VendorError without a token; `lacks_grant` where the vendor says by a code of RFC 6749, 5.2 that a right is missing */
  async token(request: TokenRequest, right: string): Promise<string> {
    const send: ProbeFetch = async (sent) => {
      const { status, body } = await this.#send(sent);
      return { status, body: body.toString() };
    };
    const { answer, token } = await requestToken(request, send);
    if (token !== null) return token;
    const json = jsonIn(Buffer.from(answer.body));
    const code = isJsonObject(json) ? json["error"] : null;
    if (code === "unauthorized_client" || code === "invalid_scope") throw lacksGrant(answer.status, right);
    // https://www.rfc-editor.org/rfc/rfc9449#section-5
    if (code === "invalid_dpop_proof" || code === "use_dpop_nonce") throw lacksGrant(answer.status, "an app without DPoP");
    throw vendorRefusal({ status: answer.status, headers: {}, json }, right);
  }

  async #send(request: Parameters<ProbeFetch>[0]): Promise<SafeResponse> {
    const { callVendors, signal } = this.#parts;
    signal?.throwIfAborted();
    this.#calls++;
    const leftMs = this.#endsAt - this.clock.monotonic();
    if (this.#calls > limits.peopleCallsMax) throw endless(`within ${limits.peopleCallsMax} requests`);
    if (leftMs <= 0) throw endless(`within ${limits.peopleReadingMs / 60_000} minutes`);
    const bounds = { answerBytesMax: limits.peoplePageBytesMax, deadlineMs: Math.min(limits.peopleCallMs, leftMs) };
    const answer = await unlessAborted(callVendors({ ...request, ...bounds, what: "The vendor's answer" }), signal);
    this.#bytes += answer.body.length;
    if (this.#bytes > limits.peopleBytesMax) throw endless(`within ${limits.peopleBytesMax} bytes`);
    return answer;
  }

  #mayWait(waitMs: number): boolean {
    const isInTime = this.clock.monotonic() + waitMs < this.#endsAt;
    return isInTime && waitMs <= limits.peopleWaitMsMax && this.#retries < limits.peopleRetriesMax;
  }
}

/** @returns the promise's outcome, or a rejection at once when `signal` aborts; the call ends by its own deadline */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener("abort", stop);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** undefined: there is none, or one that is too large to be parsed at once. */
function jsonIn(body: Buffer): unknown {
  try {
    scanJson(body, { valuesMax: limits.peoplePageValuesMax });
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/**
 * How long to wait before the same request again; null: its answer is final. By `Retry-After` (RFC 9110, 10.2.3), else by the time at which
 * Okta and GitHub count anew, else longer each time.
 */
function waitOf(answer: VendorAnswer, { nowMs, retries }: { nowMs: number; retries: number }): number | null {
  const isBusy = answer.status === 500 || (answer.status >= 502 && answer.status <= 504);
  if (!isBusy && !isRateLimited(answer)) return null;
  const { headers } = answer;
  const after = headers["retry-after"];
  if (after !== undefined) {
    const waitMs = /^\d{1,9}$/.test(after) ? Number(after) * 1_000 : Date.parse(after) - nowMs;
    if (!Number.isNaN(waitMs)) return Math.max(0, waitMs);
  }
  const reset = Number(headers["x-rate-limit-reset"] ?? headers["x-ratelimit-reset"] ?? Number.NaN);
  return Number.isFinite(reset) && isRateLimited(answer) ? Math.max(1_000, reset * 1_000 - nowMs) : 1_000 * 2 ** retries;
}

/** https://developers.google.com/workspace/admin/directory/v1/limits */
const googleLimits = ["rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded"];

/**
 * GitHub and Google refuse with 403 what comes too often:
 * https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
 */
function isRateLimited({ status, headers, json }: VendorAnswer): boolean {
  if (status !== 403) return status === 429;
  if (headers["retry-after"] !== undefined || headers["x-ratelimit-remaining"] === "0") return true;
  const error = isJsonObject(json) ? json["error"] : null;
  const details = isJsonObject(error) && Array.isArray(error["errors"]) ? error["errors"] : [];
  return details.some((detail) => isJsonObject(detail) && googleLimits.includes(String(detail["reason"])));
}

// What a vendor's refusals mean

function endless(bound: string): VendorError {
  return new VendorError(`The vendor's list did not end ${bound}`, { outcome: "unexpected" });
}

export function lacksGrant(status: number, right: string): VendorError {
  const message = `The vendor accepts the credentials, and they may not list people: what is needed is ${right}`;
  return new VendorError(message, { outcome: "lacks_grant", status });
}

export function wrongForm(): VendorError {
  return new VendorError("The vendor's answer is not the list that its documentation describes", { outcome: "unexpected" });
}

/** @param right what lists people at the vendor */
export function vendorRefusal(answer: VendorAnswer, right: string): VendorError {
  const { status } = answer;
  if (isRateLimited(answer)) return new VendorError("The vendor gets too many requests", { outcome: "rate_limited", status });
  if (status === 401) return new VendorError("The vendor refused the credentials", { outcome: "refused", status });
  if (status === 403) return lacksGrant(status, right);
  const message =
    status === 404
      ? "The vendor has no such list: check the address and the account"
      : `The vendor answered with status ${status} in place of a list`;
  return new VendorError(message, { outcome: "unexpected", status });
}

// Pages

export interface PagedList {
  url: URL;
  headers: Record<string, string>;
  right: string;
  /** The address of the page after this one; null: it is the last. */
  next(answer: VendorAnswer, url: URL): string | null;
}

/** @throws VendorError for a page on another host, or one that was already read */
export async function* pagesOf(
  { url: first, headers, right, next }: PagedList,
  calls: VendorCalls,
): AsyncGenerator<unknown, void> {
  const seen = new Set<string>();
  for (let url = first; ;) {
    seen.add(url.href);
    const answer = await calls.get(url, headers);
    if (answer.status !== 200) throw vendorRefusal(answer, right);
    if (answer.json === undefined) throw wrongForm();
    yield answer.json;
    const following = next(answer, url);
    if (following === null) return;
    const found = URL.parse(following, url.href);
    if (found?.origin !== first.origin || found.username !== "" || found.password !== "")
      throw new VendorError("The vendor's next page is on another host, so it was not asked for", { outcome: "unexpected" });
    if (seen.has(found.href)) throw endless("and begins again");
    url = found;
  }
}

/** By the header `Link`. */
export function linkedPage({ headers }: VendorAnswer): string | null {
  return nextLink(headers);
}

export function textAt(json: unknown, field: string): string | null {
  const value = isJsonObject(json) ? json[field] : undefined;
  if (value === undefined || value === null || value === "") return null;
  if (typeof value === "string" && value.length <= 8_192) return value;
  throw wrongForm();
}

/** The rows of a page. @param field absent: the page is the list */
export function rowsIn(json: unknown, field?: string): JsonObject[] {
  const list = field === undefined ? json : isJsonObject(json) ? json[field] : null;
  if (Array.isArray(list) && list.every(isJsonObject)) return list;
  throw wrongForm();
}
