/** Relays a provider's stream to a client: parses, decodes, counts and writes its events. */
import { ChatChunkWriter } from "../../src/gateway/api/answer/answer-format.ts";
import { relay } from "../../src/gateway/api/answer/relay.ts";
import { webStream } from "../../src/gateway/api/answer/response.ts";
import { systemClock, StopSignal } from "../../src/kernel/clock.ts";
import { openaiStreamDecoder } from "../../src/gateway/providers/openai/stream.ts";
import type { ProviderEventStream, EventReceiver } from "../../src/gateway/providers/provider.ts";
import { EventParser } from "../../src/gateway/providers/transport/events.ts";
import type { Microbenchmark } from "./benchmark.ts";

const events = 1_000;
const charged = { promptTokens: 20, completionTokens: events, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

function chunkBytes(delta: Record<string, unknown>, finishReason: string | null): Uint8Array {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }];
  const chunk = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "m", choices };
  return new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`);
}

/** The chunks from the network, with one event each. */
const pieces: Uint8Array[] = [
  chunkBytes({ role: "assistant", content: "" }, null),
  ...Array.from({ length: events }, (_, n) => chunkBytes({ content: `word${n} ` }, null)),
  chunkBytes({}, "stop"),
  new TextEncoder().encode("data: [DONE]\n\n"),
];

/** Does the work of ProviderStream without a connection. */
class Pieces implements ProviderEventStream {
  readonly #parser = new EventParser();
  readonly #decode = openaiStreamDecoder();
  #next = 0;

  next(taker: EventReceiver): void {
    const piece = pieces[this.#next++];
    const events = piece === undefined ? [] : this.#parser.feed(piece).flatMap(this.#decode);
    if (piece !== undefined && events.length === 0) this.next(taker);
    else taker.take(events);
  }

  async cancel(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}

async function relayed(): Promise<number> {
  const stream = relay({
    createStream: webStream,
    events: new Pieces(),
    writer: new ChatChunkWriter({ id: "gen-a", created: 1_795_000_000, model: "bench/instant-16", includeUsage: false }),
    quiet: false,
    acquireDrainSlot: () => null,
    trackOutcome: () => {},
    clientSignal: new AbortController().signal,
    stop: new StopSignal(),
    clock: systemClock,
    startedAt: 0,
    onEnd: () => charged,
  });
  let bytes = 0;
  for await (const chunk of stream) bytes += chunk.length;
  return bytes;
}

function decoded(): number {
  const parser = new EventParser();
  const decode = openaiStreamDecoder();
  return pieces.reduce((sum, piece) => sum + parser.feed(piece).flatMap(decode).length, 0);
}

export const relayEvents: Microbenchmark = {
  unit: "event",
  async prepare() {
    return [
      { name: "parsed and decoded", units: events, call: decoded },
      { name: "relayed", units: events, call: relayed },
    ];
  },
};
