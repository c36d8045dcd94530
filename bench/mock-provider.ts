/**
 * A provider that uses almost no CPU time: an API in OpenAI's format on a free loopback port, which it prints. The model's name
 * determines its answer: `instant-<events>` at once; `paced-<gapMs>-<events>` one event at a time, each with its time of sending.
 * Embeddings are answered at once with vectors of 1,536 numbers.
 */
import { sentMark } from "./load/event-reader.ts";

interface AnswerPlan {
  gapMs: number;
  events: number;
}

const head = { id: "chatcmpl-mock", created: 1_700_000_000, model: "mock" };
const usage = (events: number) => ({ prompt_tokens: 20, completion_tokens: events, total_tokens: 20 + events });
const searchedBytes = 4_096;

function answerPlanOf(text: string): AnswerPlan {
  const [, gapMs = "0", events = "16"] = /"model": ?"(?:[^"]*\/)?(?:paced-(\d+)|instant)-(\d+)"/.exec(text) ?? [];
  return { gapMs: Number(gapMs), events: Number(events) };
}

function wholeAnswer(events: number): string {
  const message = { role: "assistant", content: "word ".repeat(events).trimEnd(), refusal: null };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: "stop" }];
  return JSON.stringify({ ...head, object: "chat.completion", choices, usage: usage(events) });
}

function chunkText(delta: Record<string, unknown>, finish: string | null): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices, usage: null })}\n\n`;
}

const [contentHead = "", contentTail = ""] = chunkText({ content: "@ word " }, null).split("@");

function contentText(): string {
  return contentHead + sentMark() + contentTail;
}

function endText(events: number): string {
  const last = JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [], usage: usage(events) });
  return `${chunkText({}, "stop")}data: ${last}\n\ndata: [DONE]\n\n`;
}

function instantStream(events: number): string {
  return chunkText({ role: "assistant", content: "" }, null) + contentText().repeat(events) + endText(events);
}

/**
 * Each event is due at a fixed time from the stream's start. If it were due a fixed time after the previous event, streams that were
 * late together would stay synchronous, and send bursts from then on.
 */
function pacedStream({ gapMs, events }: AnswerPlan): ReadableStream<Uint8Array> {
  const ended = Promise.withResolvers<void>();
  const startedAt = performance.now();
  let timer: ReturnType<typeof setTimeout>;
  let sent = 0;
  return new ReadableStream({
    type: "direct",
    pull(controller: ReadableStreamDirectController) {
      const send = (text: string): void => {
        controller.write(text);
        controller.flush();
      };
      const wait = (): void => {
        timer = setTimeout(sendNext, startedAt + (sent + 1) * gapMs - performance.now());
      };
      const sendNext = (): void => {
        send(contentText());
        if (++sent < events) return wait();
        send(endText(events));
        controller.end();
        ended.resolve();
      };
      send(chunkText({ role: "assistant", content: "" }, null));
      wait();
      return ended.promise;
    },
    cancel: () => clearTimeout(timer),
  });
}

const wholeAnswers = new Map<number, string>();

function wholeAnswerFor(events: number): string {
  const known = wholeAnswers.get(events) ?? wholeAnswer(events);
  wholeAnswers.set(events, known);
  return known;
}

/** The relevant fields are at the start or the end of the body, so that 8 MiB need not be searched. */
async function answer(request: Request): Promise<Response> {
  const bytes = Buffer.from(await request.arrayBuffer());
  const end = bytes.toString("latin1", Math.max(0, bytes.length - searchedBytes), bytes.length);
  const text = bytes.length <= searchedBytes ? end : bytes.toString("latin1", 0, searchedBytes) + end;
  const plan = answerPlanOf(text);
  if (!/"stream": ?true/.test(text)) {
    return new Response(wholeAnswerFor(plan.events), { headers: { "content-type": "application/json" } });
  }
  const body = plan.gapMs === 0 ? instantStream(plan.events) : pacedStream(plan);
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

const dimensions = 1_536;
const vector = Buffer.from(new Float32Array(dimensions).fill(1 / Math.sqrt(dimensions)).buffer).toString("base64");
const embeddingAnswers = new Map<number, string>();

async function embed(request: Request): Promise<Response> {
  const { input } = (await request.json()) as { input: unknown[] };
  const known = embeddingAnswers.get(input.length) ?? embeddingAnswer(input.length);
  embeddingAnswers.set(input.length, known);
  return new Response(known, { headers: { "content-type": "application/json" } });
}

function embeddingAnswer(count: number): string {
  const data = Array.from({ length: count }, (_, index) => ({ object: "embedding", index, embedding: vector }));
  return JSON.stringify({ object: "list", data, model: "mock", usage: { prompt_tokens: count, total_tokens: count } });
}

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 255,
  maxRequestBodySize: 64 * 1024 * 1024,
  fetch: (request) => (request.url.endsWith("/embeddings") ? embed(request) : answer(request)),
});
console.log(`listening ${server.port}`);
