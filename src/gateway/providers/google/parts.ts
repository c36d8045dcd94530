/** Converts the parts of an answer to the fields of a chat completion. */
import { modelIdCharactersMax } from "../../limits.ts";
import { UpstreamFailure } from "../provider.ts";
import { asArray, asObject, asText, writtenJson, type JsonObject } from "../wire/json.ts";
import { KeptCalls } from "../wire/kept-calls.ts";
import { mintedToolCallId, signedToolCallId, signerNamed } from "../../tool-call-id.ts";

export interface Said {
  content: string;
  reasoning: string;
  /** Includes the index that a stream needs. */
  toolCalls: JsonObject[];
}

/**
 * The parts of one answer, whole or chunk by chunk. A tool call arrives whole, or its name first and its arguments in a later part, which
 * has no name.
 */
export class GoogleParts {
  #calls = 0;
  readonly #kept = new KeptCalls();
  /** The indexes of the calls whose arguments are empty so far, by the id as Google gave it; "" if it gave none. No set is empty. */
  readonly #bare = new Map<string, Set<number>>();

  get calledTools(): boolean {
    return this.#calls > 0;
  }

  /** @param answer a whole answer or a chunk. @throws UpstreamFailure for arguments that belong to no call */
  take(answer: JsonObject): Said {
    const said: Said = { content: "", reasoning: "", toolCalls: [] };
    const calls = new Map<unknown, JsonObject>();
    const content = asObject(candidateOf(answer)?.["content"]);
    for (const value of asArray(content?.["parts"])) {
      const part = asObject(value) ?? {};
      const text = asText(part["text"]) ?? "";
      if (part["functionCall"]) for (const piece of this.#callOf(part, answer)) addPiece(calls, piece);
      else if (part["thought"] === true) said.reasoning += text;
      else said.content += text;
    }
    said.toolCalls = [...calls.values()];
    return said;
  }

  /** The arguments of the calls that got none: clients cannot parse an empty text. Called at the end. */
  end(): JsonObject[] {
    const bare = [...this.#bare.values()].flatMap((indexes) => [...indexes]);
    this.#bare.clear();
    return bare.toSorted((one, other) => one - other).map((index) => arguing(index, "{}"));
  }

  #callOf(part: JsonObject, { responseId, modelVersion }: JsonObject): JsonObject[] {
    const { id, name, args, partialArgs } = asObject(part["functionCall"]) ?? {};
    const text = argumentsText(args);
    if (asArray(partialArgs).length > 0)
      throw new UpstreamFailure("upstream_error", "arguments came in a form that was not asked for");
    if (!asText(name)) return text === "" ? [] : [arguing(this.#waiting(asText(id) ?? ""), text)];
    this.#kept.begin(asText(id) ?? "", asText(name) ?? "");
    const index = this.#calls++;
    if (text === "") this.#wait(asText(id) ?? "", index);
    const given = asText(id) || mintedToolCallId(responseId, index);
    const base64 = asText(part["thoughtSignature"]);
    const model = asText(modelVersion) ?? "";
    // Each signed id has the model's name: a long one would be repeated with every call.
    const isSigned = base64 !== null && model.length <= modelIdCharactersMax;
    const signed = isSigned ? signedToolCallId(given, { signer: signerNamed(model), base64 }) : given;
    return [{ index, id: signed, type: "function", function: { name, arguments: text } }];
  }

  #wait(id: string, index: number): void {
    const same = this.#bare.get(id);
    if (same === undefined) this.#bare.set(id, new Set([index]));
    else same.add(index);
  }

  /** The index of the call that arguments without a name belong to: if several wait for arguments, only an id decides. */
  #waiting(id: string): number {
    const waiting = (id === "" ? [...this.#bare.keys()] : [id, ""]).filter((one) => this.#bare.has(one));
    const [owner = ""] = waiting;
    const [index, another] = this.#bare.get(owner) ?? [];
    if (index === undefined || another !== undefined || waiting.length > 1)
      throw new UpstreamFailure("upstream_error", "arguments came without the name of their call");
    this.#bare.delete(owner);
    return index;
  }
}

/** Clients expect one piece of a call in a chunk. */
function addPiece(pieces: Map<unknown, JsonObject>, piece: JsonObject): void {
  const named = pieces.get(piece["index"]);
  if (named === undefined) pieces.set(piece["index"], piece);
  else named["function"] = { ...asObject(named["function"]), ...asObject(piece["function"]) };
}

function arguing(index: number, text: string): JsonObject {
  return { index, function: { arguments: text } };
}

/** "" for no arguments. Some compatible servers write the object as a text. */
function argumentsText(args: unknown): string {
  const text = typeof args === "string" ? args.trim() : writtenJson(args ?? {});
  return text === "{}" ? "" : text;
}

/** The first candidate: we never request more than one. */
export function candidateOf(answer: JsonObject): JsonObject | null {
  return asObject(asArray(answer["candidates"])[0]);
}
