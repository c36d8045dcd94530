/** Parses a streamed answer from the wire and checks the official order of its chunks. */
import { conforming, Chunk, ErrorBody, TextChunk, TextUsageChunk, UsageChunk } from "./schemas.ts";
import { officialChunk, officialError } from "./official-types.ts";

export interface SentStream {
  text: string;
  refusal: string;
  /** Tool calls by index: the first chunk's id and name, and all arguments. */
  toolCalls: { id: string; name: string; arguments: string }[];
  finishReason: string | null;
  usage: UsageChunk["usage"] | null;
  /** The code of the final error. */
  failure: string | null;
}

const data = "data: ";

/**
 * Expects the role first, chunks of one id and one time, exactly one finish reason or one error, the usage chunk if it was
 * requested, and one [DONE]; comments anywhere.
 * @throws Error for any deviation
 */
export function readSentStream(body: string, { includeUsage }: { includeUsage: boolean }): SentStream {
  const values = eventsOf(body);
  const sent: SentStream = { text: "", refusal: "", toolCalls: [], finishReason: null, usage: null, failure: null };
  if (includeUsage) sent.usage = takeUsage(values);
  if (isError(values.at(-1))) sent.failure = officialError(conforming(ErrorBody, values.pop())).code;
  const chunks = values.map((value) => conforming(Chunk, value));
  requireOneHead(chunks, includeUsage);
  for (const [index, chunk] of chunks.entries()) takeChunk(sent, chunk, index === 0);
  if ((sent.finishReason === null) === (sent.failure === null)) throw new Error(`The stream has no end, or two: ${body}`);
  return sent;
}

/** As above, of a completion: no role, and the reason in a chunk without text. */
export function readSentText(body: string, { includeUsage }: { includeUsage: boolean }): SentText {
  const values = eventsOf(body);
  const usage = includeUsage ? conforming(TextUsageChunk, values.pop()).usage : null;
  const failure = isError(values.at(-1)) ? officialError(conforming(ErrorBody, values.pop())).code : null;
  const chunks = values.map((value) => conforming(TextChunk, value));
  requireOneHead(chunks, includeUsage);
  const choices = chunks.map((chunk) => present(chunk.choices[0]));
  const reasons = choices.filter((choice) => choice.finish_reason !== null);
  if (choices.some((choice) => (choice.text === "") !== (choice.finish_reason !== null)))
    throw new Error("A chunk has no text and no reason, or both");
  if (reasons.length !== (failure === null ? 1 : 0)) throw new Error(`The stream has no end, or two: ${body}`);
  const finishReason = choices.at(-1)?.finish_reason ?? null;
  return { text: choices.map(({ text }) => text).join(""), finishReason, usage, failure };
}

export type SentText = Pick<SentStream, "text" | "finishReason" | "usage" | "failure">;

/** The values of the events before [DONE]. */
function eventsOf(body: string): unknown[] {
  if (!body.endsWith(`${data}[DONE]\n\n`)) throw new Error(`The stream does not end with [DONE]: ${body.slice(-200)}`);
  const events = body
    .replaceAll(/^: .*\n/gm, "")
    .split("\n\n")
    .filter((event) => event !== "");
  if (!events.every((event) => event.startsWith(data) && !event.includes("\n")))
    throw new Error(`There is a line that is not an event: ${body}`);
  return events.slice(0, -1).map((event) => JSON.parse(event.slice(data.length)));
}

function takeUsage(values: unknown[]): UsageChunk["usage"] {
  const chunk = conforming(UsageChunk, values.pop());
  officialChunk(chunk);
  return chunk.usage;
}

function isError(value: unknown): boolean {
  return typeof value === "object" && value !== null && "error" in value;
}

function requireOneHead(chunks: (Chunk | TextChunk)[], includeUsage: boolean): void {
  const heads = new Set(chunks.map(({ id, created, model }) => `${id} ${created} ${model}`));
  if (heads.size > 1) throw new Error(`The chunks are of several answers: ${[...heads].join(", ")}`);
  if (chunks.some((chunk) => "usage" in chunk !== includeUsage))
    throw new Error("A chunk has `usage: null` although it was not requested, or lacks it");
}

function takeChunk(sent: SentStream, chunk: Chunk, isFirst: boolean): void {
  officialChunk(chunk);
  const { delta, finish_reason: reason } = present(chunk.choices[0]);
  if ((delta.role === "assistant") !== isFirst) throw new Error("The role is not in the first chunk only");
  if (sent.finishReason !== null) throw new Error("There is a chunk after the end");
  if (reason !== null && Object.keys(delta).length > 0) throw new Error("The finish reason is in a chunk with content");
  sent.finishReason = reason;
  sent.text += delta.content ?? "";
  sent.refusal += delta.refusal ?? "";
  for (const piece of delta.tool_calls ?? []) takeCall(sent.toolCalls, piece);
}

type CallPiece = NonNullable<Chunk["choices"][number]["delta"]["tool_calls"]>[number];

/** Only the first chunk of a call has id, type and name. Calls begin in order. */
function takeCall(calls: SentStream["toolCalls"], { index, id, type, function: called, custom }: CallPiece): void {
  const name = called?.name ?? custom?.name;
  const news = called?.arguments ?? custom?.input ?? "";
  const begun = calls[index];
  if (begun !== undefined) {
    if (id !== undefined || type !== undefined || name !== undefined) throw new Error("A call begins twice");
    begun.arguments += news;
    return;
  }
  if (index !== calls.length || id === undefined || type === undefined || name === undefined) {
    throw new Error("A call begins without id, type or name, or out of order");
  }
  calls.push({ id, name, arguments: news });
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("There is no choice");
  return value;
}
