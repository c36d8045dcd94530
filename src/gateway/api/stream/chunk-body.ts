/** The schema of a streamed chunk, as `ChatChunkWriter` writes it. */
import { Type } from "@sinclair/typebox";
import { FinishReason } from "../../providers/provider.ts";
import { commonAnswerFields } from "../response/answer.ts";
import { Logprobs } from "../response/logprobs.ts";
import { DeltaBody } from "../response/message-body.ts";
import { UsageBody } from "../response/usage-body.ts";

const Choice = Type.Object({
  index: Type.Literal(0, { description: "There is one choice" }),
  delta: Type.Object(DeltaBody.properties, { description: "The new piece since the previous chunk; join the texts" }),
  logprobs: Type.Union([Logprobs, Type.Null()], { description: "Log probabilities, if requested" }),
  finish_reason: Type.Union([FinishReason, Type.Null()], { description: "Why the answer ends; null until it does" }),
});

export const chunkUsage = Type.Optional(
  Type.Union([Type.Object(UsageBody.properties), Type.Null()], {
    description: "If the usage chunk was requested: the charged usage in that chunk, null in all others",
  }),
);

export const ChunkBody = Type.Object({
  ...commonAnswerFields,
  object: Type.Literal("chat.completion.chunk", { description: "The kind of object" }),
  choices: Type.Array(Choice, { maxItems: 1, description: "The piece of the answer; empty in the usage chunk" }),
  usage: chunkUsage,
});
