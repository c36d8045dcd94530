/**
 * Each recorded answer and stream of every wire format, written as a message. The types of the official package take all bodies and events:
 * a body that is valid by our schema is assignable to them (anthropic-types.ts), and each that is written here is valid by our schema. The
 * package's own reader of streams makes of the events the message that the whole answer is. Nothing is started.
 */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type Anthropic from "@anthropic-ai/sdk";
import { MessageStream } from "@anthropic-ai/sdk/lib/MessageStream";
import type { Static } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { streamText } from "../../../src/gateway/api/answer/relay.ts";
import { MessageBody, MessageEvent, messagesAnswer } from "../../../src/gateway/api/messages/answer.ts";
import { MessageError, messagesErrors } from "../../../src/gateway/api/messages/errors.ts";
import type { AnswerWants, ProviderEvent, WholeAnswer, WireFormat } from "../../../src/gateway/providers/provider.ts";
import { wireFormats } from "../../../src/gateway/providers/registry.ts";
import { EventSequence } from "../../../src/gateway/providers/transport/events.ts";
import { AnswerAssembly } from "../../../src/gateway/providers/transport/other-forms.ts";
import { errorTable, GatewayError, type ErrorCode } from "../../../src/kernel/errors.ts";
import { route } from "../../support/providers/routes.ts";
import { officialMessage, officialMessageError, officialMessageEvent } from "./anthropic-types.ts";
import { namedEvents } from "./session.ts";

type Event = Static<typeof MessageEvent>;

const fixtures = join(import.meta.dir, "../../fixtures");
const read = (...path: string[]): string => readFileSync(join(fixtures, ...path), "utf8");
const namesIn = (format: string, file: string): string[] => Object.keys(JSON.parse(read(format, file)) as object);

const wants: AnswerWants = { thoughts: true };
const called = route("acme");
const usage = { promptTokens: 100, cachedTokens: 75, cacheWriteTokens: 5, completionTokens: 9, reasoningTokens: 4, cost: 860n };
const facts = { id: `gen-${"a".repeat(26)}`, created: 1_795_000_000, model: "acme/one", signer: "acme_one" };
const format = (omitsThinking: boolean) => messagesAnswer({ model: "one", ignored: [], omitsThinking });

/** @throws if the body is not valid by the schema */
function messageOf(answer: WholeAnswer, omitsThinking = false): Anthropic.Message {
  const body: unknown = JSON.parse(format(omitsThinking).wholeText(answer, { ...facts, usage }));
  if (!Value.Check(MessageBody, body)) throw new Error(JSON.stringify([...Value.Errors(MessageBody, body)], null, 1));
  return officialMessage(body);
}

/** The events of a recorded stream, up to its end. */
function eventsIn(lines: readonly string[], { streamDecoder }: WireFormat): ProviderEvent[] {
  const events: ProviderEvent[] = [];
  const sequence = new EventSequence(streamDecoder(called, wants));
  if (!lines.some((line) => sequence.take(line, events))) sequence.end(events);
  return events;
}

/** @throws if an event is not valid by the schema */
function sentFor(events: readonly ProviderEvent[], omitsThinking = false): Event[] {
  const writer = format(omitsThinking).streamWriter({ ...facts, includeUsage: false, promptTokens: 33 });
  return namedEvents(streamText(events, writer, usage)).map((event: unknown) => {
    if (!Value.Check(MessageEvent, event)) throw new Error(`No event: ${JSON.stringify(event)}`);
    return event;
  });
}

/** What the package makes of a stream. */
async function readBack(events: readonly Event[]): Promise<Anthropic.Message> {
  const typed = events.flatMap((event) => (event.type === "ping" || event.type === "error" ? [] : [officialMessageEvent(event)]));
  const lines = typed.map((event) => `${JSON.stringify(event)}\n`).join("");
  return MessageStream.fromReadableStream(new Blob([lines]).stream()).finalMessage();
}

const upstreamNames = Object.keys(wireFormats).filter((name): name is "openai" => name !== "sandbox");

describe.each(upstreamNames)("behind %s", (name) => {
  const { format: wireFormat } = wireFormats[name];

  test.each(namesIn(name, "answers.json"))("a whole answer: %s", (one) => {
    const recorded = JSON.parse(read(name, "answers.json")) as Record<string, { body: unknown; failure?: string }>;
    const { body, failure } = recorded[one] ?? {};
    if (failure !== undefined) return void expect(() => wireFormat.decodeAnswer(body, called, wants)).toThrow();
    for (const omits of [false, true]) {
      const { content, stop_reason } = messageOf(wireFormat.decodeAnswer(body, called, wants), omits);
      expect(stop_reason).not.toBeNull();
      if (stop_reason === "tool_use") expect(content.map(({ type }) => type)).toContain("tool_use");
    }
  });

  test.each(namesIn(name, "streams.json"))("a stream: %s", async (one) => {
    const events = eventsIn(read(name, "streams", `${one}.chunks.txt`).split("\n").slice(0, -1), wireFormat);
    for (const omits of [false, true]) {
      const sent = sentFor(events, omits);
      const last = sent.at(-1);
      if (last?.type === "error") {
        expect(sent.some(({ type }) => type === "message_stop")).toBe(false);
        continue;
      }
      const assembly = new AnswerAssembly(wants);
      for (const event of events) assembly.add(event);
      const whole = messageOf(assembly.whole(), omits);
      const { content, usage: counted, ...rest } = await readBack(sent);
      expect(rest).toMatchObject({ id: whole.id, stop_reason: whole.stop_reason, stop_sequence: whole.stop_sequence });
      expect(counted.output_tokens_details).toEqual(whole.usage.output_tokens_details);
      for (const count of ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"] as const)
        expect(counted[count]).toBe(whole.usage[count]);
      // What is no JSON object differs: the package keeps the text that it got, and a whole answer shows it as a field.
      if (!JSON.stringify(whole.content).includes("invalid_arguments")) expect(content).toEqual(whole.content);
    }
  });
});

test.each(Object.keys(errorTable) as ErrorCode[])("the error %s", async (code) => {
  const body: unknown = await messagesErrors.response(new GatewayError(code, { param: "model" }), {}, "req-1").json();
  if (!Value.Check(MessageError, body)) throw new Error(`No error: ${JSON.stringify(body)}`);
  const { type, ...rest } = body.error;
  if (type === "request_too_large") expect(errorTable[code].status).toBe(413);
  else expect(officialMessageError({ ...rest, type }).message).not.toBe("");
});
