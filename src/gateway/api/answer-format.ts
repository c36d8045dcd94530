/** How an endpoint writes the answers of models: the pipeline is the same for all endpoints that complete a prompt. */
import type { Endpoint } from "../journal/settlement.ts";
import type { WholeAnswer } from "../providers/provider.ts";
import { completionBody, type CompletionFacts } from "./response/answer.ts";
import { textCompletionBody } from "./response/text-completion.ts";
import { ChatChunkWriter, type ChunkFacts, type ChunkWriter } from "./stream/chunk.ts";
import { TextChunkWriter } from "./stream/text-chunk.ts";

export interface AnswerFormat {
  /** The endpoint's name in the log; absent: chat completions. */
  endpoint?: Endpoint;
  wholeBody(answer: WholeAnswer, facts: CompletionFacts): object;
  chunkWriter(facts: ChunkFacts): ChunkWriter;
}

export const chatFormat: AnswerFormat = {
  wholeBody: completionBody,
  chunkWriter: (facts) => new ChatChunkWriter(facts),
};

export const completionFormat: AnswerFormat = {
  endpoint: "completions",
  wholeBody: textCompletionBody,
  chunkWriter: (facts) => new TextChunkWriter(facts),
};
