/**
 * Writes answers in the format of Messages: one message of blocks, whole or as a stream of named events. A stream has one block open at a
 * time: its start, its pieces, its stop. The signature of a thought is its seal, wrapped so that only the model that thought gets it back.
 * Usage counts what is charged. At the start of a stream it has what is known by then; clients take the later totals.
 * A client may ask for thoughts without their text. The text is left out only if the thought has a seal: without one, the model could get
 * nothing else back. Only the end of a thought shows whether it has a seal, so its text waits until then.
 */
import { Type, type TProperties } from "@sinclair/typebox";
import type { GatewayError } from "../../../kernel/errors.ts";
import { formatUsd, usdAsJsonNumber } from "../../../kernel/money.ts";
import { wrappedSeal } from "../../thoughts.ts";
import { stopReasons, type FinishReason, type ThoughtEvent, type WholeAnswer } from "../../providers/provider.ts";
import type { Ending } from "../../providers/wire/answers.ts";
import { ToolArguments, writtenJson, type JsonObject } from "../../providers/wire/json.ts";
import { type BilledUsage, UsageBody } from "../answer/answer.ts";
import type { AnswerFormat, StreamFacts, StreamWriter, WholeFacts } from "../answer/answer-format.ts";
import { answerBlocks, BlockSequence, type AnswerBlock, type BlockReceiver } from "../answer/block-sequence.ts";
import { ignoredHeaders } from "../answer/response.ts";
import { messageErrorBody, MessageError, messagesErrors } from "./errors.ts";

interface MessagesFacts {
  /** As the client wrote it. */
  model: string;
  /** Names of the hints that were left out. */
  ignored: readonly string[];
  /** The client wants thoughts without their text. */
  omitsThinking: boolean;
}

export function messagesAnswer(facts: MessagesFacts): AnswerFormat {
  const ignored = ignoredHeaders(facts.ignored);
  return {
    endpoint: "messages",
    wants: { thoughts: true },
    wholeText: (answer, whole) => writtenJson(wholeMessage(answer, whole, facts)),
    streamWriter: (stream) => new MessageWriter(stream, facts),
    errors: messagesErrors,
    headers: ({ request }) => ({ "request-id": request, ...ignored }),
  };
}

// Usage

const count = (description: string) => Type.Integer({ minimum: 0, description });
const nothing = (description: string) => Type.Null({ description });
const counts = {
  input_tokens: count("Tokens of the request that were neither read from nor written to the provider's cache"),
  cache_creation_input_tokens: count("Tokens of the request that were written to the cache"),
  cache_read_input_tokens: count("Tokens of the request that were read from the cache"),
  output_tokens: count("Tokens of the answer, its thinking included"),
  output_tokens_details: Type.Object(
    { thinking_tokens: count("Tokens of thinking") },
    { description: "Parts of the answer's tokens" },
  ),
  server_tool_use: nothing("No tools run at the provider"),
};
const { cost, cost_details } = UsageBody.properties;
const MessageUsage = Type.Object({
  ...counts,
  cache_creation: Type.Object(
    {
      ephemeral_5m_input_tokens: count("All tokens that were written"),
      ephemeral_1h_input_tokens: Type.Literal(0, { description: "No tokens" }),
    },
    { description: "For how long tokens were written to the cache" },
  ),
  inference_geo: nothing("Not known"),
  service_tier: Type.Literal("standard", { description: "The only tier" }),
  speed: nothing("Not known"),
  cost,
  cost_details,
});
const DeltaUsage = Type.Object({ ...counts, cost, cost_details });

function messageCounts(usage: BilledUsage): JsonObject {
  const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens, reasoningTokens } = usage;
  return {
    input_tokens: Math.max(0, promptTokens - cachedTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    output_tokens: completionTokens,
    output_tokens_details: { thinking_tokens: reasoningTokens },
    server_tool_use: null,
    ...(usage.cost !== undefined && { cost: usdAsJsonNumber(usage.cost), cost_details: { cost_usd: formatUsd(usage.cost) } }),
  };
}

function messageUsage(usage: BilledUsage): JsonObject {
  return {
    ...messageCounts(usage),
    cache_creation: { ephemeral_5m_input_tokens: usage.cacheWriteTokens, ephemeral_1h_input_tokens: 0 },
    inference_geo: null,
    service_tier: "standard",
    speed: null,
  };
}

// Blocks

const block = <Kind extends string, Properties extends TProperties>(type: Kind, properties: Properties) =>
  Type.Object({ type: Type.Literal(type, { description: "The kind of block" }), ...properties });
const signature = Type.String({ description: "Send it back unchanged: only the model that thought it gets the thought back" });
const ContentBlock = Type.Union([
  block("text", { text: Type.String({ description: "The text" }), citations: nothing("None") }),
  block("thinking", { thinking: Type.String({ description: "The text of the thought; may be empty" }), signature }),
  block("redacted_thinking", { data: signature }),
  block("tool_use", {
    id: Type.String({ description: "Send it back unchanged with the tool's result" }),
    name: Type.String({ description: "The tool that is called" }),
    input: Type.Object({}, { description: "Its input. `invalid_arguments` has what the model wrote if that was no JSON object" }),
    caller: Type.Object({ type: Type.Literal("direct", { description: "The model" }) }, { description: "Who calls" }),
  }),
]);

/** @param input of a call, as far as it is known */
function blockBody(written: AnswerBlock, place: { signer: string; id: string; index: number }, input: JsonObject): JsonObject {
  switch (written.kind) {
    case "text":
    case "refusal":
      return { type: "text", text: written.text, citations: null };
    case "thinking":
      if (written.redacted) return { type: "redacted_thinking", data: sealOf(written, place) };
      return { type: "thinking", thinking: written.text, signature: "" };
    case "call": {
      const { id, name } = written;
      return { type: "tool_use", id: id || `toolu_${bare(place.id)}_${place.index}`, name, input, caller: { type: "direct" } };
    }
  }
}

function sealOf({ seal }: { seal: string }, { signer }: { signer: string }): string {
  return wrappedSeal({ signer, seal });
}

/** A generation's id without its prefix. */
function bare(id: string): string {
  return id.slice(id.indexOf("-") + 1);
}

// Whole messages

type StopReason = (typeof stopReasons)[number];

const stopFields = {
  stop_reason: Type.Union([...stopReasons.map((word) => Type.Literal(word)), Type.Null()], {
    description: "Why the answer ends; null at the start of a stream",
  }),
  stop_sequence: Type.Union([Type.String(), Type.Null()], {
    description: "The stop sequence that the model wrote, if its provider says which",
  }),
  stop_details: nothing("Not known"),
  container: nothing("None"),
};
export const MessageBody = Type.Object({
  id: Type.String({
    pattern: "^msg_[a-z2-7]{26}$",
    description: "The generation's id, as in `X-Generation-Id`, with another prefix",
  }),
  type: Type.Literal("message", { description: "The kind of object" }),
  role: Type.Literal("assistant", { description: "The speaker" }),
  model: Type.String({ description: "The requested model, as the request names it" }),
  content: Type.Array(ContentBlock, { description: "The answer; empty in `message_start`" }),
  ...stopFields,
  diagnostics: nothing("None"),
  usage: Type.Object(MessageUsage.properties, { description: "The charged usage" }),
});

function wholeMessage(answer: WholeAnswer, facts: WholeFacts, { model, omitsThinking }: MessagesFacts): JsonObject {
  const args = new ToolArguments();
  const blocks = answerBlocks(answer);
  const content = blocks.map((written, index) => {
    const input = written.kind === "call" ? (args.read(written.text) ?? { invalid_arguments: written.text }) : {};
    const body = blockBody(written, { ...facts, index }, input);
    if (written.kind !== "thinking" || written.redacted) return body;
    const isOmitted = omitsThinking && written.seal !== "";
    return { ...body, ...(isOmitted && { thinking: "" }), signature: sealOf(written, facts) };
  });
  const said = {
    calledTools: blocks.some(({ kind }) => kind === "call"),
    refused: blocks.some(({ kind }) => kind === "refusal"),
  };
  const ending = { reason: answer.finishReason, stop: answer.stop ?? null };
  return { ...messageHead(facts.id, model), content, ...stopped(ending, said), usage: messageUsage(facts.usage) };
}

function messageHead(id: string, model: string): JsonObject {
  return { id: `msg_${bare(id)}`, type: "message", role: "assistant", model, container: null, diagnostics: null };
}

const reasonOf: Record<FinishReason, StopReason> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  function_call: "tool_use",
  content_filter: "refusal",
};

interface Said {
  calledTools: boolean;
  refused: boolean;
}

/** The provider's own word, unless the answer contradicts it. */
function stopped({ reason, stop }: Ending, { calledTools, refused }: Said): JsonObject {
  const known = stopReasons.find((word) => word === stop?.reason);
  const usual = reason === "stop" && calledTools ? "tool_use" : reason === "stop" && refused ? "refusal" : reasonOf[reason];
  const stop_reason = known === undefined || (known === "end_turn" && usual !== "end_turn") ? usual : known;
  return { stop_reason, stop_sequence: stop_reason === "stop_sequence" ? (stop?.sequence ?? null) : null, stop_details: null };
}

// Streams

const eventOf = <Kind extends string, Properties extends TProperties>(type: Kind, properties: Properties) =>
  Type.Object({ type: Type.Literal(type, { description: "The kind of event, as in its name" }), ...properties });
const index = Type.Integer({ minimum: 0, description: "The block's place in `content`" });
const more = (description: string) => Type.String({ description });

/** The data of an event. */
export const MessageEvent = Type.Union([
  eventOf("message_start", { message: MessageBody }),
  eventOf("ping", {}),
  eventOf("content_block_start", {
    index,
    content_block: Type.Union(ContentBlock.anyOf, { description: "The block, without its text or input" }),
  }),
  eventOf("content_block_delta", {
    index,
    delta: Type.Union(
      [
        block("text_delta", { text: more("More of the text") }),
        block("thinking_delta", { thinking: more("More of the thought") }),
        block("signature_delta", { signature: more("The whole signature") }),
        block("input_json_delta", { partial_json: more("More of the input, as JSON") }),
      ],
      { description: "More of the block" },
    ),
  }),
  eventOf("content_block_stop", { index }),
  eventOf("message_delta", {
    delta: Type.Object(stopFields, { description: "How the message ends" }),
    usage: Type.Object(DeltaUsage.properties, { description: "The charged usage" }),
  }),
  eventOf("message_stop", {}),
  Type.Omit(MessageError, ["request_id"]),
]);

function eventText(data: JsonObject): string {
  return `event: ${String(data["type"])}\ndata: ${JSON.stringify(data)}\n\n`;
}

const ping = eventText({ type: "ping" });
/** Most of a stream is pieces, so they are written without making an object of each. */
const pieceEnds = {
  text: '"delta":{"type":"text_delta","text":',
  refusal: '"delta":{"type":"text_delta","text":',
  thinking: '"delta":{"type":"thinking_delta","thinking":',
  call: '"delta":{"type":"input_json_delta","partial_json":',
} as const;

class MessageWriter implements StreamWriter, BlockReceiver {
  readonly keepAlive = ping;
  readonly beginsFirst = true;
  readonly #stream: StreamFacts;
  readonly #facts: MessagesFacts;
  readonly #blocks = new BlockSequence(this, { keepsTexts: false });
  /** What the current call returns. */
  #lines = "";
  #refused = false;
  /** The text of the open thought. Its end shows whether it is sent. */
  #thought = "";

  constructor(stream: StreamFacts, facts: MessagesFacts) {
    this.#stream = stream;
    this.#facts = facts;
  }

  get held(): number {
    return this.#blocks.held + this.#thought.length;
  }

  begin(): string {
    const { id, promptTokens } = this.#stream;
    const usage = { promptTokens, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 };
    const open = { content: [], stop_reason: null, stop_sequence: null, stop_details: null, usage: messageUsage(usage) };
    return eventText({ type: "message_start", message: { ...messageHead(id, this.#facts.model), ...open } }) + ping;
  }

  delta(delta: JsonObject): string {
    this.#blocks.delta(delta);
    return this.#taken();
  }

  thought(thought: ThoughtEvent): string {
    this.#blocks.thought(thought);
    return this.#taken();
  }

  complete(ending: Ending, usage: BilledUsage): string {
    this.#blocks.end();
    const said = { calledTools: this.#blocks.calledTools, refused: this.#refused };
    const delta = { ...stopped(ending, said), container: null };
    const end = eventText({ type: "message_delta", delta, usage: messageCounts(usage) });
    return this.#taken() + end + eventText({ type: "message_stop" });
  }

  fail(error: GatewayError): string {
    return eventText(messageErrorBody(error));
  }

  opened(opened: AnswerBlock, at: number): void {
    if (opened.kind === "refusal") this.#refused = true;
    if (!this.#waits(opened)) this.#start(opened, at);
  }

  more({ kind }: AnswerBlock, at: number, text: string): void {
    if (kind === "thinking" && this.#facts.omitsThinking) this.#thought += text;
    else this.#piece(kind, at, text);
  }

  closed(closed: AnswerBlock, at: number): void {
    if (closed.kind === "thinking" && !closed.redacted) {
      if (this.#waits(closed)) {
        this.#start(closed, at);
        if (closed.seal === "" && this.#thought !== "") this.#piece("thinking", at, this.#thought);
        this.#thought = "";
      }
      const delta = { type: "signature_delta", signature: sealOf(closed, this.#stream) };
      this.#lines += eventText({ type: "content_block_delta", index: at, delta });
    }
    this.#lines += `event: content_block_stop\ndata: {"type":"content_block_stop","index":${at}}\n\n`;
  }

  #waits({ kind, ...rest }: AnswerBlock): boolean {
    return kind === "thinking" && this.#facts.omitsThinking && !("redacted" in rest && rest.redacted);
  }

  #start(started: AnswerBlock, at: number): void {
    const content_block = blockBody(started, { ...this.#stream, index: at }, {});
    this.#lines += eventText({ type: "content_block_start", index: at, content_block });
  }

  #piece(kind: AnswerBlock["kind"], at: number, text: string): void {
    const head = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${at},`;
    this.#lines += `${head}${pieceEnds[kind]}${JSON.stringify(text)}}}\n\n`;
  }

  #taken(): string {
    const lines = this.#lines;
    this.#lines = "";
    return lines;
  }
}
