/** Answers a request with a prepared document: whole, a range, or 304 (RFC 9110, 13 and 14). */
import { acceptsGzip } from "./accepts-gzip.ts";
import { readRange } from "./byte-range.ts";
import type { Document, Representation } from "../document.ts";

export interface CachePolicy {
  /** How long the bytes at this path stay the same: `for good`, or until the next version. */
  stays: "for good" | "until changed";
  /** Whether clients may request ranges. */
  ranges: boolean;
  /** The version of the answer; null if it has none. */
  version: string | null;
  /** Further headers, for a page. */
  headers?: Record<string, string>;
}

/** Tells a batch job the version, whatever path it requested. */
export const versionHeader = "x-catalog-version";

const cacheControl: Record<CachePolicy["stays"], string> = {
  "for good": "public, max-age=31536000, immutable",
  "until changed": "public, no-cache",
};

export function answer(request: Request, document: Document, policy: CachePolicy): Response {
  const chosen = choose(request, document, policy);
  const headers = new Headers({
    etag: chosen.etag,
    vary: "accept-encoding",
    "x-content-type-options": "nosniff",
    "cache-control": cacheControl[policy.stays],
    ...(policy.version !== null && { [versionHeader]: policy.version }),
    ...policy.headers,
    ...(policy.ranges && { "accept-ranges": "bytes" }),
  });
  if (isKnown(request.headers.get("if-none-match"), chosen.etag)) return new Response(null, { status: 304, headers });
  headers.set("content-type", document.contentType);
  if (chosen === document.gzip) headers.set("content-encoding", "gzip");
  if (request.method === "HEAD") return whole(null, chosen, headers);
  return (policy.ranges && part(request, chosen, headers)) || whole(chosen.bytes, chosen, headers);
}

/**
 * Ranges are of the plain bytes, because clients that decompress by themselves fail on half an archive. A client that names the
 * compressed tag continues with that.
 */
function choose({ headers, method }: Request, { plain, gzip }: Document, { ranges }: CachePolicy): Representation {
  if (!acceptsGzip(headers.get("accept-encoding"))) return plain;
  const wantsPart = ranges && method === "GET" && headers.has("range");
  return wantsPart && headers.get("if-range")?.trim() !== gzip.etag ? plain : gzip;
}

function whole(body: Uint8Array<ArrayBuffer> | null, { bytes }: Representation, headers: Headers): Response {
  headers.set("content-length", String(bytes.length));
  return new Response(body, { status: 200, headers });
}

/** The requested range; null for the whole. */
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

/** Weak tags also match here (RFC 9110, 13.1.2). */
function isKnown(header: string | null, etag: string): boolean {
  if (header === null) return false;
  return header.trim() === "*" || [...header.matchAll(/"[^"]*"/g)].some(([tag]) => tag === etag);
}
