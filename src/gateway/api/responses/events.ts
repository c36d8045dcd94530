/**
 * Writes a response, whole or as events numbered without gaps. Both are made of the same items. The last event repeats all items; `held`
 * counts what is kept for it.
 * A failure is the last event, `response.failed`. The event `error` is never sent, because for clients only `response.completed`,
 * `.incomplete` and `.failed` end a stream. An item that a failure cuts never ends, and the last event leaves it out: an agent would run
 * the call.
 */
import { Type, type TProperties } from "@sinclair/typebox";
import type { GatewayError } from "../../../kernel/errors.ts";
import type { FinishReason, ThoughtEvent, WholeAnswer } from "../../providers/provider.ts";
import type { Ending } from "../../providers/wire/answers.ts";
import { logprobsBody, type BilledUsage, type Logprobs } from "../answer/answer.ts";
import { commentLine, type AnswerFormat, type StreamFacts, type StreamWriter, type WholeFacts } from "../answer/answer-format.ts";
import { answerBlocks, BlockSequence } from "../answer/block-sequence.ts";
import { ignoredHeaders } from "../answer/response.ts";
import {
  failureOf,
  OutputItem,
  ResponseBody,
  responsesErrors,
  responseText,
  SummaryPart,
  TextLogprob,
  TextPart,
  type RepeatedFields,
  type ResponseState,
} from "./answer.ts";
import { OutputItems } from "./output-items.ts";
import type { ToolNames } from "./tools.ts";

export interface ResponsesFacts {
  /** What the client calls the model. */
  requested: string;
  repeated: RepeatedFields;
  names: ToolNames;
  /** The names of fields that were left out. */
  ignored: ReadonlySet<string>;
  /** The time in Unix seconds. */
  now(): number;
}

export function responsesAnswer(facts: ResponsesFacts): AnswerFormat {
  const ignored = ignoredHeaders(facts.ignored);
  return {
    endpoint: "responses",
    wants: { thoughts: true },
    wholeText: (answer, whole) => wholeResponse(answer, whole, facts),
    streamWriter: (stream) => new ResponsesStreamWriter(stream, facts),
    errors: responsesErrors,
    headers: () => ignored,
  };
}

function wholeResponse(answer: WholeAnswer, whole: WholeFacts, facts: ResponsesFacts): string {
  const { id, created, usage, signer, completed = facts.now() } = whole;
  const items = new OutputItems({ id, signer, names: facts.names }, () => {});
  const blocks = answerBlocks(answer);
  items.addLogprobs(logprobsBody(answer.logprobs));
  for (const [index, block] of blocks.entries()) {
    items.opened(block);
    if (block.text !== "") items.more(block, index, block.text);
    if (index === blocks.length - 1) items.isCut = isCut(answer.finishReason);
    items.closed(block);
  }
  items.end();
  return responseText(
    { id, created, model: facts.requested, output: items.done, usage, ...endOf(answer.finishReason, items, completed) },
    facts.repeated,
  );
}

/** Whether the model did not come to its own end. */
function isCut(reason: FinishReason): boolean {
  return reason === "length" || reason === "content_filter";
}

/** What an answer says of its end. Words of refusal are an answer, so that clients show them. */
function endOf(reason: FinishReason, { refused }: OutputItems, completedAt: number) {
  if (reason === "length") return { status: "incomplete", cutBy: "max_output_tokens" } as const;
  if (reason === "content_filter" && !refused) return { status: "incomplete", cutBy: "content_filter" } as const;
  return { status: "completed", completedAt } as const;
}

// Streams

class ResponsesStreamWriter implements StreamWriter {
  readonly keepAlive = commentLine;
  readonly #stream: StreamFacts;
  readonly #facts: ResponsesFacts;
  readonly #items: OutputItems;
  readonly #blocks: BlockSequence;
  #begun = false;
  #number = 0;
  #lines = "";

  constructor(stream: StreamFacts, facts: ResponsesFacts) {
    this.#stream = stream;
    this.#facts = facts;
    this.#items = new OutputItems({ ...stream, names: facts.names }, (type, fields) => this.#write(type, fields));
    this.#blocks = new BlockSequence(this.#items, { keepsTexts: true });
  }

  get held(): number {
    return this.#blocks.held + this.#items.held;
  }

  begin(): string {
    this.#begin();
    return this.#take();
  }

  delta(delta: Record<string, unknown>, logprobs: Logprobs | null): string {
    this.#items.addLogprobs(logprobs);
    this.#blocks.delta(delta);
    return this.#take();
  }

  thought(thought: ThoughtEvent): string {
    this.#blocks.thought(thought);
    return this.#take();
  }

  complete({ reason }: Ending, usage: BilledUsage): string {
    this.#items.isCut = isCut(reason);
    this.#blocks.end();
    this.#items.end();
    const end = endOf(reason, this.#items, this.#stream.completed ?? this.#facts.now());
    this.#writeResponse(`response.${end.status}`, { ...end, output: this.#items.done, usage });
    return this.#take();
  }

  fail(error: GatewayError, usage: BilledUsage): string {
    this.#begin();
    this.#writeResponse("response.failed", { status: "failed", error: failureOf(error), output: this.#items.done, usage });
    return this.#take();
  }

  #begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    this.#writeResponse("response.created", { status: "in_progress", usage: null });
    this.#writeResponse("response.in_progress", { status: "in_progress", usage: null });
  }

  #write(type: string, fields: Record<string, unknown>): void {
    this.#line(type, JSON.stringify({ type, sequence_number: this.#number, ...fields }));
  }

  #writeResponse(type: string, state: Omit<ResponseState, "id" | "created" | "model">): void {
    const { id, created } = this.#stream;
    const response = responseText({ id, created, model: this.#facts.requested, ...state }, this.#facts.repeated);
    this.#line(type, `{"type":"${type}","sequence_number":${this.#number},"response":${response}}`);
  }

  #line(type: string, data: string): void {
    this.#number++;
    this.#lines += `event: ${type}\ndata: ${data}\n\n`;
  }

  #take(): string {
    const lines = this.#lines;
    this.#lines = "";
    return lines;
  }
}

// Events, as the OpenAPI description has them

const count = (description: string) => Type.Integer({ minimum: 0, description });

function event<Properties extends TProperties>(types: readonly string[], properties: Properties) {
  const type = Type.Union(
    types.map((word) => Type.Literal(`response.${word}`)),
    {
      description: "The kind of event, as in its line `event:`",
    },
  );
  return Type.Object({ type, sequence_number: count("Counts the events from 0, without gaps"), ...properties });
}

const itemPlace = {
  item_id: Type.String({ description: "Id of the item" }),
  output_index: count("The item's place in the answer"),
};
const partPlace = { ...itemPlace, content_index: count("The part's place in the message") };
const summaryPlace = { ...itemPlace, summary_index: count("The part's place in the summary") };
const more = { delta: Type.String({ description: "More of the text" }) };
const logprobs = { logprobs: Type.Array(TextLogprob, { description: "Log probabilities, if `include` asks for them" }) };

export const ResponseEvents = Type.Union([
  event(["created", "in_progress", "completed", "incomplete", "failed"], { response: ResponseBody }),
  event(["output_item.added", "output_item.done"], { output_index: itemPlace.output_index, item: OutputItem }),
  event(["content_part.added", "content_part.done"], {
    ...partPlace,
    part: Type.Union(TextPart.anyOf, { description: "The part, empty or whole" }),
  }),
  event(["output_text.delta"], { ...partPlace, ...more, ...logprobs }),
  event(["output_text.done"], { ...partPlace, text: Type.String({ description: "The whole text" }), ...logprobs }),
  event(["refusal.delta"], { ...partPlace, ...more }),
  event(["refusal.done"], { ...partPlace, refusal: Type.String({ description: "The whole refusal" }) }),
  event(["function_call_arguments.delta", "custom_tool_call_input.delta"], { ...itemPlace, ...more }),
  event(["function_call_arguments.done"], {
    ...itemPlace,
    name: Type.String({ description: "Name of the function" }),
    arguments: Type.String({ description: "The whole arguments" }),
  }),
  event(["custom_tool_call_input.done"], { ...itemPlace, input: Type.String({ description: "The whole input" }) }),
  event(["reasoning_summary_part.added", "reasoning_summary_part.done"], {
    ...summaryPlace,
    part: Type.Object(SummaryPart.properties, { description: "The part, empty or whole" }),
  }),
  event(["reasoning_summary_text.delta"], { ...summaryPlace, ...more }),
  event(["reasoning_summary_text.done"], { ...summaryPlace, text: Type.String({ description: "The whole text" }) }),
]);
