/**
 * How each endpoint writes the answers of models, whole and as a stream: the pipeline is the same for all endpoints that complete a prompt.
 * The two of chat completions are here. A chunk of theirs is a `data:` line of our own JSON, so that no provider's text can end a line; the
 * text that all chunks of a stream share is built once.
 * Every schema here is next to the code that writes it, and the OpenAPI description is made from them. The lines follow what the
 * official packages parse, including how they fail: see `commentLine`.
 */
import { Type, type Static } from "@sinclair/typebox";
import { errorBody, type ErrorShape, type GatewayError } from "../../../kernel/errors.ts";
import type { GenerationId } from "../../../kernel/ids.ts";
import type { Endpoint } from "../../field-parts.ts";
import { type AnswerWants, type ThoughtEvent, type WholeAnswer, FinishReason } from "../../providers/provider.ts";
import type { Ending } from "../../providers/wire/answers.ts";
import {
  completionText,
  type CompletionFacts,
  Logprobs,
  usageText,
  type BilledUsage,
  commonAnswerFields,
  DeltaBody,
  UsageBody,
  usageBody,
} from "./answer.ts";

export interface AnswerFormat {
  /** The endpoint's name in the log; absent: chat completions. */
  endpoint?: Endpoint;
  /** Absent: nothing beyond the form of chat completions. */
  wants?: AnswerWants;
  /** The body of an answer that is not streamed, as JSON. */
  wholeText(answer: WholeAnswer, facts: WholeFacts): string;
  streamWriter(facts: StreamFacts): StreamWriter;
  /** Absent: that of chat completions. */
  errors?: ErrorShape;
  /** Headers of an accepted request besides those of every endpoint. @param ids the generation's, and the request's */
  headers?(ids: { generation: GenerationId; request: string }): Record<string, string>;
}

export interface WholeFacts extends CompletionFacts {
  /** Names who may get the model's thoughts back: `signerOf` the route that served. */
  signer: string;
  /** When the answer was whole, in Unix seconds; absent: now. */
  completed?: number;
}

export interface StreamFacts extends ChunkFacts {
  /** As in `WholeFacts`. */
  signer: string;
  completed?: number;
  /** The prompt's tokens as far as they are known before the answer: the provider's count, or a guess. */
  promptTokens: number;
}

/** Writes one stream. Each call returns the lines to send, often none. */
export interface StreamWriter {
  /** The lines before the first piece. Called once, or never if the answer fails first. */
  begin(): string;
  /** @param delta in the form of a chat completion's, with content. @returns empty if this form has no place for it */
  delta(delta: Record<string, unknown>, logprobs: Logprobs | null): string;
  /** Absent: the endpoint shows no thoughts. */
  thought?(thought: ThoughtEvent): string;
  /** The last lines of a complete answer. */
  complete(ending: Ending, usage: BilledUsage): string;
  /** The last lines of an answer that failed, begun or not. */
  fail(error: GatewayError, usage: BilledUsage): string;
  /** Keeps a quiet stream open. */
  readonly keepAlive: string;
  /** `begin` must come before everything, `keepAlive` included. Absent: `keepAlive` may come first. */
  readonly beginsFirst?: true;
  /** Characters of the answer that it holds until the end. Absent: none. */
  readonly held?: number;
}

export const chatFormat: AnswerFormat = {
  wholeText: completionText,
  streamWriter: (facts) => new ChatChunkWriter(facts),
};

export const completionFormat: AnswerFormat = {
  endpoint: "completions",
  wholeText: (answer, facts) => JSON.stringify(textCompletionBody(answer, facts)),
  streamWriter: (facts) => new TextChunkWriter(facts),
};

// Chunks of a chat completion

interface ChunkFacts {
  /** The generation's id; the same in all chunks. */
  id: string;
  /** Unix seconds; the same in all chunks. */
  created: number;
  /** The id of the model that serves. */
  model: string;
  /** The client requested the usage chunk; all others then carry `usage: null`. */
  includeUsage: boolean;
}

const doneLine = "data: [DONE]\n\n";
/**
 * Keeps proxies from closing a quiet stream; every client ignores it. No empty line follows it, because that would end an event: some
 * packages in use take a comment with an empty line for an event without data, and fail to parse it.
 */
export const commentLine = ": keep-alive\n";

/** After a stream has started every failure has the type `api_error`. */
function errorLine(error: GatewayError): string {
  return `data: ${JSON.stringify(errorBody(error))}\n\n`;
}

/** The chunks of one stream. Each endpoint writes its pieces in its own form. The text that all chunks share is built once. */
abstract class ChunkWriter implements StreamWriter {
  readonly keepAlive = commentLine;
  /** To the beginning of the first choice. */
  protected readonly prefix: string;
  /** The text from the end of the choice's fields. */
  protected readonly suffix: string;
  readonly #includeUsage: boolean;

  constructor(object: string, { id, created, model, includeUsage }: ChunkFacts) {
    const common = JSON.stringify({ id, object, created, model });
    this.prefix = `data: ${common.slice(0, -1)},"choices":[`;
    this.suffix = includeUsage ? '}],"usage":null}\n\n' : "}]}\n\n";
    this.#includeUsage = includeUsage;
  }

  abstract begin(): string;

  abstract delta(delta: Record<string, unknown>, logprobs: Logprobs | null): string;

  complete({ reason }: Ending, usage: BilledUsage): string {
    return this.finish(reason) + this.#usage(usage) + doneLine;
  }

  fail(error: GatewayError, usage: BilledUsage): string {
    return errorLine(error) + this.#usage(usage) + doneLine;
  }

  protected abstract finish(reason: FinishReason): string;

  /** Empty if the client did not request usage. */
  #usage(usage: BilledUsage): string {
    return this.#includeUsage ? `${this.prefix}],"usage":${usageText(usage)}}\n\n` : "";
  }
}

/** The chunks of a chat completion. */
export class ChatChunkWriter extends ChunkWriter {
  readonly #deltaPrefix: string;
  /** The suffix of a delta that is not the last and has no probabilities, like almost all. */
  readonly #plainSuffix: string;

  constructor(facts: ChunkFacts) {
    super("chat.completion.chunk", facts);
    this.#deltaPrefix = `${this.prefix}{"index":0,"delta":`;
    this.#plainSuffix = `,"logprobs":null,"finish_reason":null${this.suffix}`;
  }

  begin(): string {
    return this.delta({ role: "assistant", content: "", refusal: null }, null);
  }

  delta(delta: Record<string, unknown>, logprobs: Logprobs | null): string {
    const begun = this.#deltaPrefix + JSON.stringify(delta);
    if (logprobs === null) return begun + this.#plainSuffix;
    return `${begun},"logprobs":${JSON.stringify(logprobs)},"finish_reason":null${this.suffix}`;
  }

  protected finish(reason: FinishReason): string {
    return `${this.#deltaPrefix}{},"logprobs":null,"finish_reason":"${reason}"${this.suffix}`;
  }
}

const ChunkChoice = Type.Object({
  index: Type.Literal(0, { description: "There is one choice" }),
  delta: Type.Object(DeltaBody.properties, { description: "The new piece since the previous chunk; join the texts" }),
  logprobs: Type.Union([Logprobs, Type.Null()], { description: "Log probabilities, if requested" }),
  finish_reason: Type.Union([FinishReason, Type.Null()], { description: "Why the answer ends; null until it does" }),
});

const chunkUsage = Type.Optional(
  Type.Union([Type.Object(UsageBody.properties), Type.Null()], {
    description: "If the usage chunk was requested: the charged usage in that chunk, null in all others",
  }),
);

/** A streamed chunk, as `ChatChunkWriter` writes it. */
export const ChunkBody = Type.Object({
  ...commonAnswerFields,
  object: Type.Literal("chat.completion.chunk", { description: "The kind of object" }),
  choices: Type.Array(ChunkChoice, { maxItems: 1, description: "The piece of the answer; empty in the usage chunk" }),
  usage: chunkUsage,
});

// Completions

/** A completion calls no tools. */
const TextFinishReason = Type.Union([Type.Literal("stop"), Type.Literal("length"), Type.Literal("content_filter")]);
type TextFinishReason = Static<typeof TextFinishReason>;

const TextChoice = Type.Object({
  text: Type.String({ description: "The text of the answer, or of the model's refusal" }),
  index: Type.Literal(0, { description: "There is one choice" }),
  logprobs: Type.Null({ description: "Not supported" }),
  finish_reason: Type.Union([TextFinishReason], { description: "Why the answer ends; `content_filter` also for a refusal" }),
});

export const TextCompletionBody = Type.Object({
  ...commonAnswerFields,
  object: Type.Literal("text_completion", { description: "The kind of object" }),
  choices: Type.Array(TextChoice, { minItems: 1, maxItems: 1, description: "The answer" }),
  usage: Type.Object(UsageBody.properties, { description: "The charged usage" }),
});
export type TextCompletionBody = Static<typeof TextCompletionBody>;

export function textCompletionBody(
  { message, finishReason }: WholeAnswer,
  { id, created, model, usage }: CompletionFacts,
): TextCompletionBody {
  const finish_reason = textFinishReason(finishReason, isRefusal(message));
  const choice = { text: textOf(message), index: 0 as const, logprobs: null, finish_reason };
  return { id, object: "text_completion", created, model, choices: [choice], usage: usageBody(usage) };
}

const TextChunkChoice = Type.Object({
  text: Type.String({ description: "More of the text" }),
  index: Type.Literal(0, { description: "There is one choice" }),
  logprobs: Type.Null({ description: "Not supported" }),
  finish_reason: Type.Union([TextFinishReason, Type.Null()], { description: "Why the answer ends; null until it does" }),
});

/** The official form has one object for whole answers and for chunks. */
export const TextChunkBody = Type.Object({
  ...commonAnswerFields,
  object: Type.Literal("text_completion", { description: "The kind of object" }),
  choices: Type.Array(TextChunkChoice, { maxItems: 1, description: "The piece of the answer; empty in the usage chunk" }),
  usage: chunkUsage,
});

export class TextChunkWriter extends ChunkWriter {
  #refused = false;

  constructor(facts: ChunkFacts) {
    super("text_completion", facts);
  }

  begin(): string {
    return "";
  }

  delta(delta: Record<string, unknown>): string {
    this.#refused ||= isRefusal(delta);
    const text = textOf(delta);
    return text === "" ? "" : this.#chunk(text, "null");
  }

  protected finish(reason: FinishReason): string {
    return this.#chunk("", JSON.stringify(textFinishReason(reason, this.#refused)));
  }

  #chunk(text: string, finishReason: string): string {
    return `${this.prefix}{"text":${JSON.stringify(text)},"index":0,"logprobs":null,"finish_reason":${finishReason}${this.suffix}`;
  }
}

function textFinishReason(reason: FinishReason, refused: boolean): TextFinishReason {
  if (refused) return "content_filter";
  return reason === "length" || reason === "content_filter" ? reason : "stop";
}

function isRefusal({ refusal }: Record<string, unknown>): boolean {
  return typeof refusal === "string" && refusal !== "";
}

/** The text of a message or of one delta of it. Its reasoning has no place in a completion. */
function textOf({ content, refusal }: Record<string, unknown>): string {
  return (typeof content === "string" ? content : "") + (typeof refusal === "string" ? refusal : "");
}
