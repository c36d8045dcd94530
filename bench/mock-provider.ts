/**
 * A provider that uses almost no CPU time: the APIs of chat completions, Messages and Responses on a free loopback port, which it prints.
 * The model's name determines its answer: `instant-<events>` and `agent-<events>` at once; `paced-<gapMs>-<events>`, only for chat
 * completions, one event at a time. Each event has its time of sending. Embeddings are answered at once with vectors of 1,536 numbers.
 */
import type { AgentApi } from "./load/agent-body.ts";
import { sentMark } from "./load/event-reader.ts";
import { answerTexts, type AnswerTexts } from "./mock-answers.ts";

interface AnswerPlan {
  /** Agents put `stream` anywhere in a large body. */
  isAgent: boolean;
  gapMs: number;
  events: number;
}

const searchedBytes = 4_096;
const defaultPlan: AnswerPlan = { isAgent: false, gapMs: 0, events: 16 };

/** null: the text names no model of the bench. */
function answerPlanOf(text: string): AnswerPlan | null {
  const found = /"model": ?"(?:[^"]*\/)?(?:paced-(\d+)|(instant|agent))-(\d+)"/.exec(text);
  if (found === null) return null;
  const [, gapMs = "0", kind, events] = found;
  return { isAgent: kind === "agent", gapMs: Number(gapMs), events: Number(events) };
}

const answers = new Map<string, AnswerTexts>();

function textsFor(api: AgentApi, events: number): AnswerTexts {
  const name = `${api} ${events}`;
  const known = answers.get(name) ?? answerTexts(api, events);
  answers.set(name, known);
  return known;
}

/**
 * Each event is due at a fixed time from the stream's start. If it were due a fixed time after the previous event, streams that were
 * late together would stay synchronous, and send bursts from then on.
 */
function pacedStream({ gapMs, events }: AnswerPlan): ReadableStream<Uint8Array> {
  const all = textsFor("chat", events).events;
  const timed = (from: number, to = from + 1): string =>
    all
      .slice(from, to)
      .map((one) => one.join(sentMark()))
      .join("");
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
        send(timed(++sent));
        if (sent < events) return wait();
        send(timed(sent + 1, all.length));
        controller.end();
        ended.resolve();
      };
      send(timed(0));
      wait();
      return ended.promise;
    },
    cancel: () => clearTimeout(timer),
  });
}

function apiOf(url: string): AgentApi {
  if (url.endsWith("/messages")) return "messages";
  return url.endsWith("/responses") ? "responses" : "chat";
}

const streamFields = ['"stream":true', '"stream": true'];

/** The relevant fields are mostly at the start or the end of the body, so that 8 MiB need not be searched. Portkey sorts some by name. */
async function answer(request: Request): Promise<Response> {
  const bytes = Buffer.from(await request.arrayBuffer());
  const end = bytes.toString("latin1", Math.max(0, bytes.length - searchedBytes), bytes.length);
  const text = bytes.length <= searchedBytes ? end : bytes.toString("latin1", 0, searchedBytes) + end;
  const plan = answerPlanOf(text) ?? answerPlanOf(bytes.toString("latin1")) ?? defaultPlan;
  const isStreamed = plan.isAgent ? streamFields.some((field) => bytes.includes(field)) : /"stream": ?true/.test(text);
  const { whole, stream } = textsFor(apiOf(request.url), plan.events);
  if (!isStreamed) return new Response(whole, { headers: { "content-type": "application/json" } });
  const body = plan.gapMs === 0 ? stream.join(sentMark()) : pacedStream(plan);
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
