/** How an endpoint writes the answers of models: the pipeline is the same for all endpoints that complete a prompt. */
import type { Endpoint } from "../journal/settlement.ts";
import type { WholeAnswer } from "../providers/provider.ts";
import { completionText, type CompletionFacts } from "./response/answer.ts";
import { textCompletionBody } from "./response/text-completion.ts";
import { ChatChunkWriter, type ChunkFacts, type ChunkWriter } from "./stream/chunk.ts";
import { TextChunkWriter } from "./stream/text-chunk.ts";

export interface AnswerFormat {
  /** The endpoint's name in the log; absent: chat completions. */
  endpoint?: Endpoint;
  /** The body of an answer that is not streamed, as JSON. */
  wholeText(answer: WholeAnswer, facts: CompletionFacts): string;
  chunkWriter(facts: ChunkFacts): ChunkWriter;
}

export const chatFormat: AnswerFormat = {
  wholeText: completionText,
  chunkWriter: (facts) => new ChatChunkWriter(facts),
};

export const completionFormat: AnswerFormat = {
  endpoint: "completions",
  wholeText: (answer, facts) => JSON.stringify(textCompletionBody(answer, facts)),
  chunkWriter: (facts) => new TextChunkWriter(facts),
};
