/**
 * The provider inside the process, for trying and testing the service without an account anywhere. It takes the place of the
 * network and of nothing else: encoding, clocks, decoding and metering are those of every other provider.
 */
import { sleep, type Clock } from "../../kernel/clock.ts";
import { asObject, parseJson } from "../json.ts";
import type { PostInit, Transport } from "../transport.ts";
import { sandboxAnswer, type SandboxAnswer } from "./answer.ts";
import { errorBody, streamedCompletion, wholeCompletion } from "./wire.ts";

export function sandboxOf(clock: Clock): Transport {
  return {
    reach: () => null,
    post: (_, init) => respond(init, clock),
  };
}

async function respond({ body, signal }: PostInit, clock: Clock): Promise<Response> {
  const request = asObject(parseJson(body)) ?? {};
  const answer = sandboxAnswer(request);
  if (answer === null) return failed(400, "The sandbox does not know this command");
  const { status, delayMs, silent } = answer.command;
  const streamed = request["stream"] === true && status === null;
  if (!streamed) {
    await (silent ? givenUp(signal) : sleep(clock, delayMs, signal));
    signal.throwIfAborted();
  }
  if (status !== null) return failed(status, "The sandbox was told to fail");
  const created = Math.floor(clock.now() / 1_000);
  if (streamed)
    return new Response(eventStream({ answer, created, signal, clock }), { headers: { "content-type": "text/event-stream" } });
  const text = wholeCompletion(answer, created);
  return new Response(answer.command.breakAfter === null ? text : breakingOff(text), {
    headers: { "content-type": "application/json" },
  });
}

function failed(status: number, message: string): Response {
  return new Response(errorBody(status, message), { status, headers: { "content-type": "application/json" } });
}

interface EventStreamParts {
  answer: SandboxAnswer;
  created: number;
  signal: AbortSignal;
  clock: Clock;
}

/** Writes an event when one is asked for and never ahead. */
function eventStream({ answer, created, signal, clock }: EventStreamParts): ReadableStream<Uint8Array> {
  const { delayMs, gapMs, breakAfter, silent } = answer.command;
  const events = streamedCompletion(answer, created);
  const encoder = new TextEncoder();
  let sent = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        if (sent === breakAfter) throw connectionBroken();
        const waitMs = sent === 0 ? delayMs : gapMs;
        if (silent) await givenUp(signal);
        if (waitMs > 0) await sleep(clock, waitMs, signal);
        if (signal.aborted) return controller.error(connectionBroken());
        const { done, value } = events.next();
        if (done) return controller.close();
        sent += 1;
        controller.enqueue(encoder.encode(value));
      },
    },
    { highWaterMark: 0 },
  );
}

function breakingOff(text: string): ReadableStream<Uint8Array> {
  const half = new TextEncoder().encode(text.slice(0, text.length / 2));
  let sent = false;
  return new ReadableStream({
    pull(controller) {
      if (sent) throw connectionBroken();
      sent = true;
      controller.enqueue(half);
    },
  });
}

function givenUp(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function connectionBroken(): Error {
  return new Error("The sandbox broke the connection");
}
