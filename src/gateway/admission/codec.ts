/** Messages of admission as bytes. Both ends are ours and of one version, so an answer is trusted in its shape. */
import type { ReplyBatch, AdmissionRequest, RequestBatch } from "./message.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export interface EncodedRequest {
  text: string;
  /** What it adds to a message, with the comma before the next one. */
  bytes: number;
}

/** Each question is written once: its size is known before its message is put together. */
export function encodeRequest(ask: AdmissionRequest): EncodedRequest {
  const text = JSON.stringify(ask);
  return { text, bytes: Buffer.byteLength(text) + 1 };
}

const head = '{"asks":[';
const tail = "]}";
/** What a message weighs beside its questions. */
export const envelopeBytes = head.length + tail.length;

export function encodeRequests(asks: readonly EncodedRequest[]): Uint8Array {
  return encoder.encode(head + asks.map(({ text }) => text).join(",") + tail);
}

/** @throws SyntaxError, TypeError on bytes that no front of ours sent */
export function decodeRequests(payload: Uint8Array): RequestBatch {
  return withList(JSON.parse(decoder.decode(payload)), "asks") as RequestBatch;
}

export function encodeReplies(message: ReplyBatch): Uint8Array {
  return encoder.encode(JSON.stringify(message));
}

/** @throws SyntaxError, TypeError on bytes that no worker of ours sent */
export function decodeReplies(payload: Uint8Array): ReplyBatch {
  return withList(JSON.parse(decoder.decode(payload)), "answers") as ReplyBatch;
}

/** The hot path checks the envelope only: what is inside was written by `encodeAsks` or `encodeAnswers`. */
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
