/** A prepared document as the answer to a request: whole, a part, or nothing where the client has it (RFC 9110, 13 and 14). */
import { acceptsGzip } from "./accepts-gzip.ts";
import { readRange } from "./byte-range.ts";
import type { Document, Representation } from "../document.ts";

export interface Manner {
  /** How long the bytes behind this path stay: `for good`, or until the next version. */
  stays: "for good" | "until changed";
  /** Whether parts of it may be asked for. */
  ranges: boolean;
  /** The version that the answer is of; null: of none. */
  version: string | null;
  /** Further headers, of a page. */
  headers?: Record<string, string>;
}

/** What a batch job is told of the version, whichever path it asked. */
export const versionHeader = "x-catalog-version";

const cacheControl: Record<Manner["stays"], string> = {
  "for good": "public, max-age=31536000, immutable",
  "until changed": "public, no-cache",
};

export function answer(request: Request, document: Document, manner: Manner): Response {
  const chosen = choose(request, document, manner);
  const headers = new Headers({
    etag: chosen.etag,
    vary: "accept-encoding",
    "x-content-type-options": "nosniff",
    "cache-control": cacheControl[manner.stays],
    ...(manner.version !== null && { [versionHeader]: manner.version }),
    ...manner.headers,
    ...(manner.ranges && { "accept-ranges": "bytes" }),
  });
  if (isKnown(request.headers.get("if-none-match"), chosen.etag)) return new Response(null, { status: 304, headers });
  headers.set("content-type", document.contentType);
  if (chosen === document.gzip) headers.set("content-encoding", "gzip");
  if (request.method === "HEAD") return whole(null, chosen, headers);
  return (manner.ranges && part(request, chosen, headers)) || whole(chosen.bytes, chosen, headers);
}

/** Parts are of the plain bytes: clients that unpack by themselves fail at half an archive. One that says which it has, goes on with that. */
function choose({ headers, method }: Request, { plain, gzip }: Document, { ranges }: Manner): Representation {
  if (!acceptsGzip(headers.get("accept-encoding"))) return plain;
  const wantsPart = ranges && method === "GET" && headers.has("range");
  return wantsPart && headers.get("if-range")?.trim() !== gzip.etag ? plain : gzip;
}

function whole(body: Uint8Array<ArrayBuffer> | null, { bytes }: Representation, headers: Headers): Response {
  headers.set("content-length", String(bytes.length));
  return new Response(body, { status: 200, headers });
}

/** The part that is asked for; null: the whole is. */
function part(request: Request, { bytes, etag }: Representation, headers: Headers): Response | null {
  const condition = request.headers.get("if-range");
  if (condition !== null && condition.trim() !== etag) return null;
  const range = readRange(request.headers.get("range"), bytes.length);
  if (range === null) return null;
  if (range === "unsatisfiable") {
    headers.delete("content-encoding");
    headers.set("content-range", `bytes */${bytes.length}`);
    headers.set("content-type", "application/json");
    headers.set("cache-control", "no-store");
    return Response.json(
      { detail: `The header Range asks for bytes after the last: there are ${bytes.length}` },
      { status: 416, headers },
    );
  }
  const { first, last } = range;
  headers.set("content-range", `bytes ${first}-${last}/${bytes.length}`);
  headers.set("content-length", String(last - first + 1));
  return new Response(bytes.subarray(first, last + 1), { status: 206, headers });
}

/** Weak tags count here as well (RFC 9110, 13.1.2). */
function isKnown(header: string | null, etag: string): boolean {
  if (header === null) return false;
  return header.trim() === "*" || [...header.matchAll(/"[^"]*"/g)].some(([tag]) => tag === etag);
}
