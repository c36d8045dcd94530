/**
 * Bytes that are prepared once and served many times, plain and compressed, each with a strong entity tag: whole, a range, or 304 (RFC
 * 9110, 13 and 14).
 *
 * Ranges count the plain bytes, because clients that decompress on their own fail on half an archive. A client that names the compressed
 * tag resumes with the compressed bytes. These are kept as stored, since another library may compress differently.
 */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";

const compress = promisify(gzip);
const unpack = promisify(gunzip);

interface Representation {
  bytes: Uint8Array<ArrayBuffer>;
  /** A strong tag with its quotes: the SHA-256 of exactly these bytes. */
  etag: string;
}

export interface Document {
  contentType: string;
  plain: Representation;
  /** null: the bytes are compressed already. */
  gzip: Representation | null;
}

interface CompressedDocument extends Document {
  gzip: Representation;
}

export async function documentOf(text: string, contentType: string): Promise<CompressedDocument> {
  const plain = new TextEncoder().encode(text);
  return { contentType, plain: representation(plain), gzip: representation(await compressed(plain)) };
}

/** For bytes that are compressed by themselves, such as a font's. */
export function packedDocument(bytes: Uint8Array<ArrayBuffer>, contentType: string): Document {
  return { contentType, plain: representation(bytes), gzip: null };
}

/** Takes the compressed bytes as stored, since another library may compress differently. */
export async function unpackedDocument(gzip: Uint8Array, contentType: string): Promise<Document> {
  const plain = Uint8Array.from(await unpack(gzip));
  return { contentType, plain: representation(plain), gzip: representation(Uint8Array.from(gzip)) };
}

export async function compressed(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return Uint8Array.from(await compress(bytes));
}

export function textOf({ plain }: Document): string {
  return new TextDecoder().decode(plain.bytes);
}

/** In hexadecimal. */
export function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export interface CachePolicy {
  /** How long the bytes at this path stay unchanged: `for good`, or until the next version. */
  stays: "for good" | "until changed";
  /** Whether clients may request ranges. */
  ranges: boolean;
  /** The version of the answer; null if it has none. */
  version: string | null;
  /** Further headers, which pages have. */
  headers?: Record<string, string>;
}

/** Tells a batch job the version, whatever path it requested. */
export const versionHeader = "x-catalog-version";

const cacheControl: Record<CachePolicy["stays"], string> = {
  "for good": "public, max-age=31536000, immutable",
  "until changed": "public, no-cache",
};

/** Answers a request with a prepared document. */
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

interface ByteRange {
  first: number;
  /** The last byte, inclusive. */
  last: number;
}

/** Parses a `Range` header with one range of bytes. @returns null if everything is to be sent, as for several ranges */
export function readRange(header: string | null, size: number): ByteRange | "unsatisfiable" | null {
  const [, from = "", to = ""] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(header ?? "") ?? [];
  if (from === "" && to === "") return null;
  if (from === "") return lastBytes(Number(to), size);
  const first = Number(from);
  const last = to === "" ? size - 1 : Number(to);
  if (to !== "" && last < first) return null;
  return first >= size ? "unsatisfiable" : { first, last: Math.min(last, size - 1) };
}

/** Whether `Accept-Encoding` prefers gzip to no encoding (RFC 9110, 12.5.3). */
export function acceptsGzip(header: string | null): boolean {
  const weights = new Map((header ?? "").toLowerCase().split(",").map(weighted));
  const gzip = weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*") ?? 0;
  return gzip > 0 && gzip >= (weights.get("identity") ?? 0);
}

function representation(bytes: Uint8Array<ArrayBuffer>): Representation {
  return { bytes, etag: `"${sha256(bytes)}"` };
}

/** The representation that the client accepts, or to which its range refers. */
function choose({ headers, method }: Request, { plain, gzip }: Document, { ranges }: CachePolicy): Representation {
  if (gzip === null || !acceptsGzip(headers.get("accept-encoding"))) return plain;
  const wantsPart = ranges && method === "GET" && headers.has("range");
  return wantsPart && headers.get("if-range")?.trim() !== gzip.etag ? plain : gzip;
}

/** Weak tags also match here (RFC 9110, 13.1.2). */
function isKnown(header: string | null, etag: string): boolean {
  if (header === null) return false;
  return header.trim() === "*" || [...header.matchAll(/"[^"]*"/g)].some(([tag]) => tag === etag);
}

function whole(body: Uint8Array<ArrayBuffer> | null, { bytes }: Representation, headers: Headers): Response {
  headers.set("content-length", String(bytes.length));
  return new Response(body, { status: 200, headers });
}

/** The requested range; null for everything. */
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

function lastBytes(count: number, size: number): ByteRange | "unsatisfiable" {
  return count === 0 || size === 0 ? "unsatisfiable" : { first: Math.max(0, size - count), last: size - 1 };
}

function weighted(item: string): [coding: string, weight: number] {
  const [coding = "", ...parameters] = item.split(";").map((part) => part.trim());
  const [weight = 1] = parameters.filter((one) => one.startsWith("q=")).map((one) => Number(one.slice(2)));
  return [coding, Number.isFinite(weight) ? weight : 0];
}
