/** Admission's messages as bytes. Both ends are Weir processes of one version, so the shape of a reply is trusted. */
import type { ReplyBatch, AdmissionRequest, RequestBatch } from "./message.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export interface EncodedRequest {
  text: string;
  /** What it adds to a message, including the comma before the next request. */
  bytes: number;
}

/** Each request is encoded once, so that its size is known before its message is built. */
export function encodeRequest(request: AdmissionRequest): EncodedRequest {
  const text = JSON.stringify(request);
  return { text, bytes: Buffer.byteLength(text) + 1 };
}

const head = '{"asks":[';
const tail = "]}";
/** Size of a message without its requests. */
export const envelopeBytes = head.length + tail.length;

export function encodeRequests(requests: readonly EncodedRequest[]): Uint8Array {
  return encoder.encode(head + requests.map(({ text }) => text).join(",") + tail);
}

/** @throws SyntaxError, TypeError on bytes that no gateway sent */
export function decodeRequests(payload: Uint8Array): RequestBatch {
  return withList(JSON.parse(decoder.decode(payload)), "asks") as RequestBatch;
}

export function encodeReplies(message: ReplyBatch): Uint8Array {
  return encoder.encode(JSON.stringify(message));
}

/** @throws SyntaxError, TypeError on bytes that no worker sent */
export function decodeReplies(payload: Uint8Array): ReplyBatch {
  return withList(JSON.parse(decoder.decode(payload)), "answers") as ReplyBatch;
}

/** The hot path checks only the envelope: `encodeRequests` or `encodeReplies` wrote its content. */
function withList(value: unknown, field: "asks" | "answers"): object {
  if (
    typeof value !== "object" ||
    value === null ||
    !(field in value) ||
    !Array.isArray((value as Record<string, unknown>)[field])
  ) {
    throw new TypeError(`Cannot read a message of admission: it has no list "${field}"`);
  }
  return value;
}
