/** Messages of admission as bytes. Both ends are ours and of one version, so an answer is trusted in its shape. */
import type { AnswerMessage, Ask, AskMessage } from "./message.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export interface EncodedAsk {
  text: string;
  /** What it adds to a message, with the comma before the next one. */
  bytes: number;
}

/** Each question is written once: its size is known before its message is put together. */
export function encodeAsk(ask: Ask): EncodedAsk {
  const text = JSON.stringify(ask);
  return { text, bytes: Buffer.byteLength(text) + 1 };
}

const head = '{"asks":[';
const tail = "]}";
/** What a message weighs beside its questions. */
export const envelopeBytes = head.length + tail.length;

export function encodeAsks(asks: readonly EncodedAsk[]): Uint8Array {
  return encoder.encode(head + asks.map(({ text }) => text).join(",") + tail);
}

/** @throws SyntaxError, TypeError on bytes that no front of ours sent */
export function decodeAsks(payload: Uint8Array): AskMessage {
  return withList(JSON.parse(decoder.decode(payload)), "asks") as AskMessage;
}

export function encodeAnswers(message: AnswerMessage): Uint8Array {
  return encoder.encode(JSON.stringify(message));
}

/** @throws SyntaxError, TypeError on bytes that no worker of ours sent */
export function decodeAnswers(payload: Uint8Array): AnswerMessage {
  return withList(JSON.parse(decoder.decode(payload)), "answers") as AnswerMessage;
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
