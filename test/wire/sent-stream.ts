/** A streamed answer as it came over the wire, held to the official order of things. */
import { conforming, Chunk, ErrorBody, UsageChunk } from "./schemas.ts";
import { officialChunk, officialError } from "./official-types.ts";

export interface SentStream {
  text: string;
  refusal: string;
  /** By index: the first piece's id and name, and all arguments. */
  toolCalls: { id: string; name: string; arguments: string }[];
  finishReason: string | null;
  usage: UsageChunk["usage"] | null;
  /** The code of the error that it ended with. */
  failure: string | null;
}

const data = "data: ";

/**
 * Role first, pieces of one id and one time, exactly one reason for the end or one error, the usage chunk where it was asked
 * for, one [DONE]; comments anywhere.
 * @throws Error where anything is otherwise
 */
export function readSentStream(body: string, { includeUsage }: { includeUsage: boolean }): SentStream {
  if (!body.endsWith(`${data}[DONE]\n\n`)) throw new Error(`The stream does not end with [DONE]: ${body.slice(-200)}`);
  const events = body.split("\n\n").filter((event) => event !== "" && !event.startsWith(": "));
  if (!events.every((event) => event.startsWith(data) && !event.includes("\n"))) throw new Error(`No event: ${body}`);
  const values: unknown[] = events.slice(0, -1).map((event) => JSON.parse(event.slice(data.length)));
  const sent: SentStream = { text: "", refusal: "", toolCalls: [], finishReason: null, usage: null, failure: null };
  if (includeUsage) sent.usage = takeUsage(values);
  if (isError(values.at(-1))) sent.failure = officialError(conforming(ErrorBody, values.pop())).code;
  const chunks = values.map((value) => conforming(Chunk, value));
  requireOneHead(chunks, includeUsage);
  for (const [index, chunk] of chunks.entries()) takeChunk(sent, chunk, index === 0);
  if ((sent.finishReason === null) === (sent.failure === null)) throw new Error(`It has no end, or two: ${body}`);
  return sent;
}

function takeUsage(values: unknown[]): UsageChunk["usage"] {
  const chunk = conforming(UsageChunk, values.pop());
  officialChunk(chunk);
  return chunk.usage;
}

function isError(value: unknown): boolean {
  return typeof value === "object" && value !== null && "error" in value;
}

function requireOneHead(chunks: Chunk[], includeUsage: boolean): void {
  const heads = new Set(chunks.map(({ id, created, model }) => `${id} ${created} ${model}`));
  if (heads.size > 1) throw new Error(`The chunks are of several answers: ${[...heads].join(", ")}`);
  if (chunks.some((chunk) => "usage" in chunk !== includeUsage)) throw new Error("usage: null is where it was not asked for");
}

function takeChunk(sent: SentStream, chunk: Chunk, isFirst: boolean): void {
  officialChunk(chunk);
  const { delta, finish_reason: reason } = present(chunk.choices[0]);
  if ((delta.role === "assistant") !== isFirst) throw new Error("The role is not told first and once");
  if (sent.finishReason !== null) throw new Error("There is a piece after the end");
  if (reason !== null && Object.keys(delta).length > 0) throw new Error("The end is told together with a piece");
  sent.finishReason = reason;
  sent.text += delta.content ?? "";
  sent.refusal += delta.refusal ?? "";
  for (const piece of delta.tool_calls ?? []) takeCall(sent.toolCalls, piece);
}

type CallPiece = NonNullable<Chunk["choices"][number]["delta"]["tool_calls"]>[number];

/** The first piece of a call has id, type and name, the others have none of them; calls begin in order. */
function takeCall(calls: SentStream["toolCalls"], { index, id, type, function: called, custom }: CallPiece): void {
  const name = called?.name ?? custom?.name;
  const news = called?.arguments ?? custom?.input ?? "";
  const begun = calls[index];
  if (begun !== undefined) {
    if (id !== undefined || type !== undefined || name !== undefined) throw new Error("A call is begun twice");
    begun.arguments += news;
    return;
  }
  if (index !== calls.length || id === undefined || type === undefined || name === undefined) {
    throw new Error("A call is not begun as it must be");
  }
  calls.push({ id, name, arguments: news });
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("There is no choice");
  return value;
}
