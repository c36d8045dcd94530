/** Converts the parts of an answer to the fields of a chat completion. */
import { UpstreamFailure } from "../provider.ts";
import { asArray, asObject, asText, type JsonObject } from "../wire/json.ts";
import { mintedToolCallId, signedToolCallId, signerNamed } from "../../tool-call-id.ts";

export interface Said {
  content: string;
  reasoning: string;
  /** Includes the index that a stream needs. */
  toolCalls: JsonObject[];
}

/** A call whose arguments are empty so far. */
interface BareCall {
  /** As Google gave it; "" if it gave none. */
  id: string;
  index: number;
}

/**
 * The parts of one answer, whole or chunk by chunk. A tool call arrives whole, or its name first and its arguments in a later part, which
 * has no name.
 */
export class GoogleParts {
  #calls = 0;
  #bare: BareCall[] = [];

  get calledTools(): boolean {
    return this.#calls > 0;
  }

  /** @param answer a whole answer or a chunk. @throws UpstreamFailure for arguments that belong to no call */
  take(answer: JsonObject): Said {
    const said: Said = { content: "", reasoning: "", toolCalls: [] };
    const content = asObject(candidateOf(answer)?.["content"]);
    for (const value of asArray(content?.["parts"])) {
      const part = asObject(value) ?? {};
      const text = asText(part["text"]) ?? "";
      if (part["functionCall"]) for (const piece of this.#callOf(part, answer)) addPiece(said.toolCalls, piece);
      else if (part["thought"] === true) said.reasoning += text;
      else said.content += text;
    }
    return said;
  }

  /** The arguments of the calls that got none: clients cannot parse an empty text. Called at the end. */
  end(): JsonObject[] {
    const bare = this.#bare;
    this.#bare = [];
    return bare.map(({ index }) => arguing(index, "{}"));
  }

  #callOf(part: JsonObject, { responseId, modelVersion }: JsonObject): JsonObject[] {
    const { id, name, args, partialArgs } = asObject(part["functionCall"]) ?? {};
    const text = argumentsText(args);
    if (asArray(partialArgs).length > 0)
      throw new UpstreamFailure("upstream_error", "arguments came in a form that was not asked for");
    if (!asText(name)) return text === "" ? [] : [arguing(this.#waiting(asText(id) ?? "").index, text)];
    const index = this.#calls++;
    if (text === "") this.#bare.push({ id: asText(id) ?? "", index });
    const given = asText(id) || mintedToolCallId(responseId, index);
    const base64 = asText(part["thoughtSignature"]);
    const signed = base64 ? signedToolCallId(given, { signer: signerNamed(asText(modelVersion) ?? ""), base64 }) : given;
    return [{ index, id: signed, type: "function", function: { name, arguments: text } }];
  }

  /** The call that arguments without a name belong to: if several wait for arguments, only an id decides. */
  #waiting(id: string): BareCall {
    const candidates = this.#bare.filter((call) => id === "" || call.id === "" || call.id === id);
    const [call] = candidates;
    if (call === undefined || candidates.length > 1)
      throw new UpstreamFailure("upstream_error", "arguments came without the name of their call");
    this.#bare = this.#bare.filter((one) => one !== call);
    return call;
  }
}

/** Clients expect one piece of a call in a chunk. */
function addPiece(pieces: JsonObject[], piece: JsonObject): void {
  const named = pieces.find(({ index }) => index === piece["index"]);
  if (named === undefined) pieces.push(piece);
  else named["function"] = { ...asObject(named["function"]), ...asObject(piece["function"]) };
}

function arguing(index: number, text: string): JsonObject {
  return { index, function: { arguments: text } };
}

/** "" for no arguments. Some compatible servers write the object as a text. */
function argumentsText(args: unknown): string {
  const text = typeof args === "string" ? args.trim() : JSON.stringify(args ?? {});
  return text === "{}" ? "" : text;
}

/** The first candidate: we never request more than one. */
export function candidateOf(answer: JsonObject): JsonObject | null {
  return asObject(asArray(answer["candidates"])[0]);
}
