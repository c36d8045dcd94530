/** HTTPS to hosts outside of the network that the service stands in: what a name stands for is judged as it is connected to. */
import { lookup as lookupInDns, type LookupAddress, type LookupOptions } from "node:dns";
import type { IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { withDeadline, type Clock } from "../kernel/clock.ts";
import { probeAnswerBytesMax, probeCallMs } from "../limits/tools.ts";
import { requireOutside } from "./base-url.ts";
import { isGlobalAddress } from "./global-address.ts";
import type { ProbeAnswer, ProbeRequest, Send } from "./probe.ts";

/** The name stands for an address within a network, or for none. */
export class NotOutsideError extends Error {
  override name = "NotOutsideError";
}

export interface Outside {
  clock: Clock;
  /** All addresses of a name; the system's resolver unless told. */
  resolve?(name: string): Promise<LookupAddress[]>;
  /** Which of them may be connected to; those that are reachable from everywhere unless told. */
  isOutside?(address: string): boolean;
  /** Certificates of authorities in place of the system's. */
  authorities?: string;
}

/** The address that was judged is the one that is connected to: a name that changes in between gains nothing. */
export function sendOutside({ clock, resolve = resolveInDns, isOutside = isGlobalAddress, authorities }: Outside): Send {
  return async (request) => {
    requireOutside(request.url);
    const addresses = async (name: string): Promise<LookupAddress[]> => {
      const found = await resolve(name);
      if (found.length > 0 && found.every(({ address }) => isOutside(address))) return found;
      throw new NotOutsideError("The host is not reachable from everywhere");
    };
    const aborting = new AbortController();
    try {
      const call = exchange(request, { addresses, authorities, signal: aborting.signal });
      return await withDeadline(clock, probeCallMs, "The vendor's answer", call);
    } finally {
      aborting.abort();
    }
  };
}

interface Connecting {
  addresses(name: string): Promise<LookupAddress[]>;
  authorities: string | undefined;
  signal: AbortSignal;
}

function exchange(
  { method, url, headers, body }: ProbeRequest,
  { addresses, authorities, signal }: Connecting,
): Promise<ProbeAnswer> {
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
    const sent = requestHttps(url, options, (answer) => readAnswer(answer).then(resolve, reject));
    sent.on("error", reject);
    sent.end(body);
  });
}

type LookupDone = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/** @throws RangeError for an answer that is larger than one that a probe asks for */
async function readAnswer(answer: IncomingMessage): Promise<ProbeAnswer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of answer) {
    pieces.push(Buffer.from(piece));
    bytes += Buffer.byteLength(piece);
    if (bytes > probeAnswerBytesMax) throw new RangeError("The vendor's answer is too large");
  }
  return { status: answer.statusCode ?? 0, body: Buffer.concat(pieces).toString() };
}

function resolveInDns(name: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookupInDns(name, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });
}
