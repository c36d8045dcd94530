/** Converts the parts of an answer to the fields of a chat completion. */
import { asArray, asObject, asText, type JsonObject } from "../wire/json.ts";
import { mintedToolCallId, signedToolCallId, signerNamed } from "../wire/tool-call-id.ts";

export interface Said {
  content: string;
  reasoning: string;
  /** Includes the index that a stream needs. */
  toolCalls: JsonObject[];
}

/** The parts of one answer, whole or chunk by chunk. A tool call always arrives whole. */
export class GoogleParts {
  #calls = 0;

  get calledTools(): boolean {
    return this.#calls > 0;
  }

  /** @param answer a whole answer or a chunk */
  take(answer: JsonObject): Said {
    const said: Said = { content: "", reasoning: "", toolCalls: [] };
    const content = asObject(candidateOf(answer)?.["content"]);
    for (const value of asArray(content?.["parts"])) {
      const part = asObject(value) ?? {};
      const text = asText(part["text"]) ?? "";
      if (part["functionCall"]) said.toolCalls.push(...this.#callOf(part, answer));
      else if (part["thought"] === true) said.reasoning += text;
      else said.content += text;
    }
    return said;
  }

  #callOf(part: JsonObject, { responseId, modelVersion }: JsonObject): JsonObject[] {
    const { id, name, args } = asObject(part["functionCall"]) ?? {};
    if (!asText(name)) return [];
    const index = this.#calls++;
    const given = asText(id) || mintedToolCallId(responseId, index);
    const base64 = asText(part["thoughtSignature"]);
    const signed = base64 ? signedToolCallId(given, { signer: signerNamed(asText(modelVersion) ?? ""), base64 }) : given;
    return [{ index, id: signed, type: "function", function: { name, arguments: JSON.stringify(args ?? {}) } }];
  }
}

/** The first candidate: we never request more than one. */
export function candidateOf(answer: JsonObject): JsonObject | null {
  return asObject(asArray(answer["candidates"])[0]);
}
