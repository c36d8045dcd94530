/**
 * Calls public hosts only, and no private address (SSRF): vendors of connections, and platforms of repositories.
 *
 * A name is resolved once, all its addresses are checked, and the connection goes to a checked one, so a name that changes in between has
 * no effect. No redirect is followed. Only an origin that the operator configured may be private. Answers are bounded in bytes.
 */
import { lookup as lookupInDns, type LookupAddress, type LookupOptions } from "node:dns";
import { request as requestHttp, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { withDeadline, type Clock } from "../kernel/clock.ts";
import { GatheredBytes } from "./body.ts";
import { requirePublicHost, isPublicAddress } from "./public-address.ts";

/** The name resolves to a private address, or to none. */
export class PrivateAddressError extends Error {
  override name = "PrivateAddressError";
}

/** The answer is larger than the request allows. */
export class TooLargeError extends Error {
  override name = "TooLargeError";
}

export interface SafeFetchOptions {
  clock: Clock;
  /** Resolves a name to all its addresses; by default the system's resolver. */
  resolve?(name: string): Promise<LookupAddress[]>;
  /** Whether an address may be connected to; by default public addresses only. */
  isAllowedAddress?(address: string): boolean;
  /** Certificates of authorities that replace the system's. */
  authorities?: string;
  /** Whether the operator configured the origin; then any address is allowed. */
  configured?(origin: string): boolean;
}

interface SafeRequest {
  method: "GET" | "POST";
  /** https, except for a configured origin. */
  url: URL;
  headers: Record<string, string>;
  body?: string | undefined;
  answerBytesMax: number;
  deadlineMs: number;
  /** Names the call in the error of a timeout. */
  what: string;
}

export interface SafeResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Rejects with the cause if there is no answer; follows no redirect. */
export type SafeFetch = (request: SafeRequest) => Promise<SafeResponse>;

/** Calls by these rules. */
export function createSafeFetch({
  clock,
  resolve = resolveInDns,
  isAllowedAddress = isPublicAddress,
  authorities,
  configured = () => false,
}: SafeFetchOptions): SafeFetch {
  return async (request) => {
    const isConfigured = configured(request.url.origin);
    if (!isConfigured) {
      if (request.url.protocol !== "https:") throw new PrivateAddressError("The address is not one of https");
      requirePublicHost(request.url);
    }
    const addresses = async (name: string): Promise<LookupAddress[]> => {
      const found = await resolve(name);
      if (found.length > 0 && found.every(({ address }) => isConfigured || isAllowedAddress(address))) return found;
      throw new PrivateAddressError("The host is not reachable from everywhere");
    };
    const aborting = new AbortController();
    try {
      const call = exchange(request, { addresses, authorities, signal: aborting.signal });
      return await withDeadline(clock, request.deadlineMs, request.what, call);
    } finally {
      aborting.abort();
    }
  };
}

function resolveInDns(name: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookupInDns(name, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });
}

interface Connecting {
  addresses(name: string): Promise<LookupAddress[]>;
  authorities: string | undefined;
  signal: AbortSignal;
}

type LookupDone = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

function exchange(
  { method, url, headers, body, answerBytesMax }: SafeRequest,
  { addresses, authorities, signal }: Connecting,
): Promise<SafeResponse> {
  return new Promise((resolve, reject) => {
    const options = {
      method,
      headers: { ...headers, "user-agent": "weir", ...(body !== undefined && { "content-length": Buffer.byteLength(body) }) },
      agent: false as const,
      signal,
      ...(authorities !== undefined && { ca: authorities }),
      lookup(name: string, { all }: LookupOptions, done: LookupDone) {
        addresses(name).then(
          (found) => {
            const [first] = found;
            if (all || !first) done(null, found);
            else done(null, first.address, first.family);
          },
          (error: Error) => done(error, []),
        );
      },
    };
    const request = url.protocol === "https:" ? requestHttps : requestHttp;
    const sent = request(url, options, (answer) => readAnswer(answer, answerBytesMax).then(resolve, reject));
    sent.on("error", reject);
    sent.end(body);
  });
}

/** @throws TooLargeError */
async function readAnswer(answer: IncomingMessage, bytesMax: number): Promise<SafeResponse> {
  const gathered = new GatheredBytes();
  for await (const piece of answer) {
    gathered.add(Buffer.from(piece));
    if (gathered.length > bytesMax) throw new TooLargeError(`The answer is larger than ${bytesMax} bytes`);
  }
  const { buffer, byteOffset, byteLength } = gathered.take();
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.from(buffer, byteOffset, byteLength) };
}

const linkCharactersMax = 20_000;

/** The address of the next page as the header `Link` has it, https://www.rfc-editor.org/rfc/rfc8288. @returns null: there is none */
export function nextLink({ link = [] }: SafeResponse["headers"]): string | null {
  const links = [link].flat().flatMap((line) => line.slice(0, linkCharactersMax).split(/,(?=\s*<)/));
  for (const one of links) {
    const [start, end] = [one.indexOf("<"), one.indexOf(">")];
    const parameters = one.slice(end + 1).split(";");
    const isNext = parameters.some((parameter) => /^\s*rel\s*=\s*"?next"?\s*$/i.test(parameter));
    if (start >= 0 && end > start && isNext) return one.slice(start + 1, end);
  }
  return null;
}
