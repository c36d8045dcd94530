/** Bytes that are prepared once and served many times, plain and compressed, each with a strong entity tag. */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";

const compress = promisify(gzip);
const unpack = promisify(gunzip);

export interface Representation {
  bytes: Uint8Array<ArrayBuffer>;
  /** A strong tag with its quotes: the SHA-256 of exactly these bytes. */
  etag: string;
}

export interface Document {
  contentType: string;
  plain: Representation;
  gzip: Representation;
}

export async function documentOf(text: string, contentType: string): Promise<Document> {
  const plain = new TextEncoder().encode(text);
  return { contentType, plain: representation(plain), gzip: representation(await compressed(plain)) };
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

function representation(bytes: Uint8Array<ArrayBuffer>): Representation {
  return { bytes, etag: `"${sha256(bytes)}"` };
}
