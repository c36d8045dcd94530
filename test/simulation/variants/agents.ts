/**
 * Runs whose clients also speak Messages and Responses, whole and streamed, and read every event of an answer in order: what a client takes
 * for a complete answer, for its text and for its charge is what the invariants see. They draw from random numbers of their own, so that
 * they change nothing in runs without them.
 */
import { isJsonObject, type JsonObject } from "../../../src/http/json.ts";
import { parseUsd } from "../../../src/kernel/money.ts";
import type { AnswerFormat } from "../../../src/gateway/api/answer/answer-format.ts";
import { messagesAnswer } from "../../../src/gateway/api/messages/answer.ts";
import { repeatedFields } from "../../../src/gateway/api/responses/answer.ts";
import { responsesAnswer } from "../../../src/gateway/api/responses/events.ts";
import { Chance } from "../chance.ts";

export type AgentApi = "messages" | "responses";

/** Two of seven runs have them. */
export function agentsOf(seed: number): Agents | null {
  return seed % 7 === 3 || seed % 7 === 6 ? new Agents(seed) : null;
}

export class Agents {
  readonly #chance: Chance;

  constructor(seed: number) {
    this.#chance = new Chance(seed ^ 0x2545f491);
  }

  /** The API of the next request; null: that of a request without agents. */
  api(): AgentApi | null {
    return this.#chance.pick([null, "messages", "responses"]);
  }
}

export function agentFormat(api: AgentApi, model: string): AnswerFormat {
  if (api === "messages") return messagesAnswer({ model, ignored: [], omitsThinking: false });
  return responsesAnswer({
    requested: model,
    repeated: repeatedFields({}, null),
    names: new Map(),
    ignored: new Set(),
    now: () => 1_790_000_000,
  });
}

interface Got {
  status: number;
  isStream: boolean;
  text: string;
}

interface Read {
  /** Complete, and not failed. */
  whole: boolean;
  code: string | null;
  /** Words of the model. */
  words: number;
  /** The charge that the usage shows; absent: it shows none. */
  told?: bigint;
}

/** @throws Error if the answer is not one of its API's, or ends before its last event */
export function readAgentAnswer(api: AgentApi, { status, isStream, text }: Got): Read {
  if (!isStream) return readWhole(api, status, JSON.parse(text) as JsonObject);
  return api === "messages" ? readMessages(eventsIn(text)) : readResponses(eventsIn(text));
}

function readWhole(api: AgentApi, status: number, body: JsonObject): Read {
  const error = objectIn(body, "error");
  if (error !== null) return { whole: false, code: String(error["code"]), words: 0 };
  const isWhole =
    api === "messages" ? body["type"] === "message" && body["stop_reason"] !== null : body["status"] === "completed";
  demand(status === 200 && isWhole, `status ${status} has the body ${JSON.stringify(body)}`);
  return { whole: true, code: null, words: wordsIn(JSON.stringify(body)), ...toldIn(objectIn(body, "usage")) };
}

function readMessages(events: readonly JsonObject[]): Read {
  const said: string[] = [];
  const types = events.map(({ type }) => type).filter((type) => type !== "ping");
  const failure = objectIn(events.at(-1) ?? {}, "error");
  const begun = types[0] === "message_start" || (types.length === 1 && failure !== null);
  demand(begun && types.lastIndexOf("message_start") <= 0, `a message begins with ${types[0]}`);
  let [next, open] = [0, false];
  for (const event of events) {
    const { type, index } = event;
    if (type === "content_block_start") demand(!open && index === next, `block ${index} begins where ${next} is due`);
    if (type === "content_block_delta" || type === "content_block_stop") demand(open && index === next, `${type} of ${index}`);
    if (type === "content_block_delta") said.push(String(objectIn(event, "delta")?.["text"]));
    if (type === "content_block_start") open = true;
    if (type === "content_block_stop") [open, next] = [false, next + 1];
  }
  const words = wordsIn(said.join(""));
  if (failure !== null) return { whole: false, code: String(failure["code"]), words };
  demand(!open && types.slice(-2).join() === "message_delta,message_stop", `a message ends with ${types.slice(-2).join()}`);
  return { whole: true, code: null, words, ...toldIn(objectIn(events.at(-2) ?? {}, "usage")) };
}

function readResponses(events: readonly JsonObject[]): Read {
  for (const [place, event] of events.entries())
    demand(event["sequence_number"] === place, `event ${place} has the number ${String(event["sequence_number"])}`);
  const types = events.map(({ type }) => String(type));
  demand(types.slice(0, 2).join() === "response.created,response.in_progress", `a response begins with ${types[0]}`);
  const ends = types.filter((type) => /^response\.(completed|incomplete|failed)$/.test(type));
  demand(ends.length === 1 && types.at(-1) === ends[0], `a response ends with ${types.at(-1)}, and has ${ends.length} ends`);
  const said = events.flatMap(({ type, delta }) => (type === "response.output_text.delta" ? [String(delta)] : [])).join("");
  const response = objectIn(events.at(-1) ?? {}, "response") ?? {};
  const words = wordsIn(said);
  const failure = objectIn(response, "error");
  if (failure !== null) return { whole: false, code: String(failure["code"]), words };
  demand(textOf(response) === said, `the last event says "${textOf(response)}", the others said "${said}"`);
  return { whole: true, code: null, words, ...toldIn(objectIn(response, "usage")) };
}

function textOf({ output }: JsonObject): string {
  const items = Array.isArray(output) ? (output as { content?: { text?: string }[] }[]) : [];
  return items.flatMap(({ content = [] }) => content.map(({ text = "" }) => text)).join("");
}

/** Without comments, which keep a quiet stream open. */
function eventsIn(text: string): JsonObject[] {
  demand(text.endsWith("\n\n"), `a stream ends with ${JSON.stringify(text.slice(-40))}`);
  return text
    .replaceAll(/^:.*\n/gm, "")
    .split("\n\n")
    .filter((event) => event.trim() !== "")
    .map((event) => {
      const [, type, data = ""] = /^event: (\S+)\ndata: (.*)$/.exec(event) ?? [];
      const value: unknown = JSON.parse(data === "" ? "null" : data);
      if (!isJsonObject(value) || value["type"] !== type) throw new Error(`The stream has no event in ${JSON.stringify(event)}`);
      return value;
    });
}

function toldIn(usage: JsonObject | null): Pick<Read, "told"> {
  const cost = usage && objectIn(usage, "cost_details")?.["cost_usd"];
  return typeof cost === "string" ? { told: parseUsd(cost) } : {};
}

function wordsIn(text: string): number {
  return text.match(/word/g)?.length ?? 0;
}

function objectIn(of: JsonObject, field: string): JsonObject | null {
  const value = of[field];
  return isJsonObject(value) ? value : null;
}

function demand(isRight: boolean, problem: string): void {
  if (!isRight) throw new Error(`An agent's answer is not as its API has it: ${problem}`);
}
