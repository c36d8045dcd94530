/**
 * A call that changes nothing at a vendor, and shows whether the vendor accepts a connection's credentials.
 *
 * Calls use https, go only to public hosts in the vendor's own domains, and follow no redirects. If a vendor requires a token first, the
 * credentials are exchanged for one (RFC 6749). A value that cannot be used for a call is an error that never contains it.
 */
import { BaseUrlError, parseBaseUrl } from "../../http/public-address.ts";
import { createSafeFetch, type SafeFetchOptions } from "../../http/safe-fetch.ts";
import type { Clock } from "../../kernel/clock.ts";
import { probeAnswerBytesMax, probeCallMs } from "../limits.ts";
import type { Credentials } from "./credentials.ts";
import type { Outcome } from "./schema.ts";

interface ProbeRequest {
  method: "GET" | "POST";
  /** An https address. */
  url: URL;
  headers: Record<string, string>;
  body?: string;
}

export interface ProbeAnswer {
  status: number;
  body: string;
}

/** Calls public hosts only and follows no redirects. Rejects with the cause if there is no answer. */
export type ProbeFetch = (request: ProbeRequest) => Promise<ProbeAnswer>;

interface ProbeParts {
  probeFetch: ProbeFetch;
  clock: Clock;
}

export interface Probe {
  /** Id of the connector. */
  connector: string;
  /** Keys of the fields that it uses; alternatives of the form with other fields have no test. */
  needs: readonly string[];
  /** Statuses by which the vendor accepts credentials that may not read what is asked for; absent: none. */
  lacksGrant?: readonly number[];
  /** @returns the answer that shows whether the credentials work @throws CredentialError */
  call(value: (key: string) => string, parts: ProbeParts): Promise<ProbeAnswer>;
}

/** A field's value cannot be used for a call. The message says what is needed, and never contains the value. */
export class CredentialError extends Error {
  override name = "CredentialError";
  readonly field: string;

  constructor(field: string, needed: string) {
    super(`The field "${field}" cannot be used: ${needed}`);
    this.field = field;
  }
}

/** What a vendor's answers mean, in words of ours: the message has none of the vendor's text. */
export class VendorError extends Error {
  override name = "VendorError";
  readonly outcome: Outcome;
  readonly status: number | null;

  constructor(message: string, { outcome, status = null }: { outcome: Outcome; status?: number | null }) {
    super(message);
    this.outcome = outcome;
    this.status = status;
  }
}

/** Reads a field that the probe needs, although it may be optional in the form. */
export function valueOf(credentials: Credentials): (key: string) => string {
  return (key) => {
    const value = credentials.get(key);
    if (value === undefined) throw new CredentialError(key, "the test needs it");
    return value;
  };
}

/** A field that the form may leave empty; null: it is. */
export function optionalValue(value: (key: string) => string, key: string): string | null {
  try {
    return value(key);
  } catch (error) {
    if (error instanceof CredentialError) return null;
    throw error;
  }
}

/** What a header can carry, and nothing breaks out of. */
const printable = /^[\u0021-\u007e]+$/;

/** Checks that a header can carry a value: only printable ASCII. @throws CredentialError */
export function headerText(key: string, value: string): string {
  if (printable.test(value)) return value;
  throw new CredentialError(key, "printable ASCII characters without blanks are needed");
}

/** Calls vendors under these rules. */
export function createProbeFetch(options: SafeFetchOptions): ProbeFetch {
  const call = createSafeFetch(options);
  const bounds = { answerBytesMax: probeAnswerBytesMax, deadlineMs: probeCallMs, what: "The vendor's answer" };
  return async ({ method, url, headers, body }) => {
    const answer = await call({ method, url, headers, body, ...bounds });
    return { status: answer.status, body: answer.body.toString() };
  };
}

/** What credentials are exchanged for a token with. */
export interface TokenRequest {
  tokenUrl: URL;
  /** The fields of the request. */
  grant: Record<string, string>;
}

/**
 * Exchanges credentials for an access token (RFC 6749).
 * @returns the vendor's answer, and its token, which a header can carry; null: there is none
 */
export async function requestToken(
  { tokenUrl, grant, headers = {} }: TokenRequest & { headers?: Record<string, string> },
  probeFetch: ProbeFetch,
): Promise<{ answer: ProbeAnswer; token: string | null }> {
  const answer = await probeFetch({
    method: "POST",
    url: tokenUrl,
    headers: { accept: "application/json", "content-type": "application/x-www-form-urlencoded", ...headers },
    body: new URLSearchParams(grant).toString(),
  });
  // For wrong credentials, RFC 6749, 5.2 prescribes status 400 or 401.
  if (answer.status === 400) return { answer: { ...answer, status: 401 }, token: null };
  if (answer.status < 200 || answer.status > 299) return { answer, token: null };
  const token = tokenIn(answer.body);
  const isUsable = token !== null && printable.test(token);
  return isUsable ? { answer, token } : { answer: { status: answer.status, body: "" }, token: null };
}

/** Exchanges credentials for a token, then calls with it. Without a token, the result is the vendor's answer. */
export async function callWithToken(
  { url, ...request }: TokenRequest & { url: URL },
  probeFetch: ProbeFetch,
): Promise<ProbeAnswer> {
  const { answer, token } = await requestToken(request, probeFetch);
  if (token === null) return answer;
  return probeFetch({ method: "GET", url, headers: { accept: "application/json", authorization: `Bearer ${token}` } });
}

/**
 * Parses a customer's host at the vendor: `acme`, `acme.vendor.com` or `https://acme.vendor.com/`.
 * @param ends the vendor's domains, of which the first completes a bare name; credentials are sent to no other host
 * @returns the origin
 * @throws CredentialError
 */
export function vendorOrigin({ field, text, ends }: { field: string; text: string; ends: readonly string[] }): URL {
  const typed = text.trim();
  const named = /^[a-z0-9-]+$/i.test(typed) ? `${typed}.${ends[0] ?? ""}` : typed;
  try {
    const { hostname, port, origin } = parseBaseUrl(/^[a-z]+:\/\//i.test(named) ? named : `https://${named}`);
    if (port === "" && ends.some((end) => hostname.endsWith(`.${end}`))) return new URL(origin);
  } catch (error) {
    if (!(error instanceof BaseUrlError)) throw error;
  }
  throw new CredentialError(field, `a host of ${ends.join(" or ")} is needed`);
}

/** The `access_token` of an answer (RFC 6749, 5.1); null: it has none. */
function tokenIn(body: string): string | null {
  try {
    const { access_token: token } = JSON.parse(body);
    return typeof token === "string" ? token : null;
  } catch {
    return null;
  }
}
