/** The chunks of a streamed completion. The official form has one object for whole answers and for chunks. */
import { Type } from "@sinclair/typebox";
import type { FinishReason } from "../../providers/provider.ts";
import { commonAnswerFields } from "../response/answer.ts";
import { isRefusal, textFinishReason, TextFinishReason, textOf } from "../response/text-completion.ts";
import { ChunkWriter, type ChunkFacts } from "./chunk.ts";
import { chunkUsage } from "./chunk-body.ts";

const Choice = Type.Object({
  text: Type.String({ description: "More of the text" }),
  index: Type.Literal(0, { description: "There is one choice" }),
  logprobs: Type.Null({ description: "Not supported" }),
  finish_reason: Type.Union([TextFinishReason, Type.Null()], { description: "Why the answer ends; null until it does" }),
});

export const TextChunkBody = Type.Object({
  ...commonAnswerFields,
  object: Type.Literal("text_completion", { description: "The kind of object" }),
  choices: Type.Array(Choice, { maxItems: 1, description: "The piece of the answer; empty in the usage chunk" }),
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

  finish(reason: FinishReason): string {
    return this.#chunk("", JSON.stringify(textFinishReason(reason, this.#refused)));
  }

  #chunk(text: string, finishReason: string): string {
    return `${this.prefix}{"text":${JSON.stringify(text)},"index":0,"logprobs":null,"finish_reason":${finishReason}${this.suffix}`;
  }
}
