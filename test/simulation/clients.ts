/** The clients, which send requests, read answers and sometimes hang up. They outlive every process. */
import { GatewayError } from "../../src/kernel/errors.ts";
import { RefusedError } from "../../src/gateway/admission/client.ts";
import type { Claim } from "../../src/gateway/field-parts.ts";
import type { CheckedChat } from "../../src/gateway/api/request/chat-request.ts";
import { checkEmbedding } from "../../src/gateway/api/request/embedding.ts";
import { allModels } from "./catalog.ts";
import type { Chance } from "./chance.ts";
import type { Host } from "./world/host.ts";
import type { PlannedKey } from "./plan.ts";
import type { Recorder } from "./recorder.ts";
import type { Scheduler } from "./scheduler.ts";
import { readAgentAnswer, type AgentApi } from "./variants/agents.ts";
import type { SimGateway, SimRequest } from "./gateway.ts";

export interface Sent {
  key: PlannedKey;
  gateway: SimGateway;
  request: SimRequest;
  /** Absent: chat completions, completions or embeddings. */
  api?: AgentApi;
  probe?: { of: string; afterMs: number };
  /** What recognises a repetition of the request; absent: it has no idempotency key. */
  claim?: Claim;
  /** When the client hangs up, in milliseconds; absent: never. */
  leavesMs?: number;
  /** How many chunks of the answer it gets before it hangs up; absent: it does not. */
  leavesAfter?: number;
}

interface Seen {
  status: number;
  code: string | null;
  generation: string | null;
  whole: boolean;
  retryAfterMs?: number;
  deliveredBytes?: number;
  told?: bigint;
  hasLeft?: true;
}

export class Clients {
  readonly #scheduler: Scheduler;
  readonly #recorder: Recorder;
  readonly #waiting = new Map<string, Host>();
  #count = 0;

  constructor(scheduler: Scheduler, recorder: Recorder) {
    this.#scheduler = scheduler;
    this.#recorder = recorder;
  }

  /** @returns the request's name, and its outcome, which never resolves when its gateway dies */
  send({ key, gateway, request, api, probe, claim, leavesMs, leavesAfter = Infinity }: Sent): {
    invocation: string;
    seen: Promise<Seen>;
  } {
    const invocation = `request-${++this.#count}`;
    const { id, workspace } = key.record;
    const facts = { ...(probe && { probe }), ...(claim && { isKeyed: true as const }) };
    this.#recorder.note({ kind: "invoked", invocation, workspace, key: id, ...facts });
    if (gateway.host.isDead) return this.#neverSent(invocation);
    this.#waiting.set(invocation, gateway.host);
    const gone = new AbortController();
    if (leavesMs !== undefined) this.#scheduler.plan(leavesMs, gateway.host, () => gone.abort());
    const sent = { hash: key.hash, request, ...(api && { api }), clientSignal: gone.signal, invocation, claim: claim ?? null };
    const answer = gateway.answer(sent);
    const seen = answer.then((response) => read(response, { leaving: gone, leavesAfter, api })).catch(refusal);
    return {
      invocation,
      seen: seen.then((one) => {
        gateway.open.delete(invocation);
        return this.#end(invocation, one);
      }),
    };
  }

  /** The number of requests without an answer. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Marks the open requests at a dead gateway as of unknown outcome. */
  died(host: Host): void {
    for (const [invocation, at] of this.#waiting) {
      if (at !== host) continue;
      this.#waiting.delete(invocation);
      this.#recorder.note({ kind: "info", invocation });
    }
  }

  #neverSent(invocation: string): { invocation: string; seen: Promise<Seen> } {
    this.#recorder.note({ kind: "info", invocation });
    return { invocation, seen: Promise.resolve({ status: 0, code: null, generation: null, whole: false }) };
  }

  async #end(invocation: string, seen: Seen): Promise<Seen> {
    this.#waiting.delete(invocation);
    this.#recorder.note({ kind: "answered", invocation, ...seen });
    return seen;
  }
}

function refusal(error: unknown): Seen {
  if (!(error instanceof GatewayError)) throw error;
  const { status, code } = error;
  const seen: Seen = { status, code, generation: null, whole: false };
  const isLate = error instanceof RefusedError && error.retryAfterMs !== null;
  return isLate && error.retryAfterMs !== null ? { ...seen, retryAfterMs: error.retryAfterMs } : seen;
}

interface Reading {
  leaving: AbortController;
  leavesAfter: number;
  api: AgentApi | undefined;
}

/** Reads the answer to its end, or until the client hangs up. */
async function read(response: Response, { leaving, leavesAfter, api }: Reading): Promise<Seen> {
  const gone = leaving.signal;
  const generation = response.headers.get("x-generation-id");
  const { status } = response;
  let text = "";
  const reader = response.body?.getReader();
  const hangUp = (): void => void reader?.cancel().catch(() => {});
  gone.addEventListener("abort", hangUp);
  const decoder = new TextDecoder();
  for (let chunks = 0; reader; chunks++) {
    if (chunks >= leavesAfter) leaving.abort();
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  if (api && !gone.aborted) {
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const { words: deliveredBytes, ...answer } = readAgentAnswer(api, { status, isStream, text });
    return { status, generation, ...answer, deliveredBytes };
  }
  const code = /"code":"([a-z_]+)"/.exec(text)?.[1] ?? null;
  const whole = status === 200 && code === null && !gone.aborted && (text.endsWith("[DONE]\n\n") || text.endsWith("}"));
  const deliveredBytes = status === 200 ? (text.match(/word|"embedding":\[/g)?.length ?? 0) : 0;
  return { status, code, generation, whole, deliveredBytes, ...(gone.aborted && { hasLeft: true as const }) };
}

/** A request whose provider answers completely and at once, so that any delay is Weir's. */
export function promptRequest(chance: Chance): CheckedChat {
  const request = someRequest(chance);
  return { ...request, streamed: false, body: { ...request.body, is_prompt: true } };
}

/** A random request. It reserves at most `amountMax`. */
export function someRequest(chance: Chance): CheckedChat {
  const inputTokens = chance.between(1, 236);
  const maxTokens = chance.between(1, 50);
  const promptEstimate = Math.ceil(inputTokens / 4);
  const body = {
    model: chance.pick(["acme/one", "acme/thinker"]),
    messages: [{ role: "user", content: "words" }],
    input_tokens_bound: inputTokens + 64,
    prompt_estimate: promptEstimate,
  };
  const estimate = { inputTokens, promptEstimate: () => promptEstimate };
  const common = { body, model: body.model, requested: body.model, maxTokens, tools: false, ...estimate, ...someRouting(body) };
  const streamed = chance.happens(0.4);
  const includeUsage = chance.happens(0.5);
  return { ...common, streamed, includeUsage, includeCost: includeUsage };
}

/** A random request for embeddings of one to three texts. It reserves at most `amountMax`. */
export function someEmbedding(chance: Chance): SimRequest {
  const input = chance.happens(0.2)
    ? "a".repeat(chance.between(200, 400))
    : Array.from({ length: chance.between(1, 3) }, () => "a".repeat(chance.between(1, 90)));
  return checkEmbedding(new TextEncoder().encode(JSON.stringify({ model: "acme/embed", input })), allModels);
}

/** Every third request may be served by another model. No draw decides it, so that earlier seeds keep their histories. */
function someRouting(body: CheckedChat["body"]): Pick<CheckedChat, "routing"> {
  const bound = Number(body["input_tokens_bound"]);
  if (bound % 3 !== 0) return {};
  const ids = bound % 2 === 0 ? [body.model, "beta/other"] : ["beta/other", body.model];
  const rules = { order: [], only: null, ignore: new Set<string>(), sort: bound % 5 === 0 ? ("price" as const) : null };
  const bodies = new Map(ids.map((model) => [model, { ...body, model }]));
  return { routing: { rules, models: ids.map((id) => ({ id, field: "models" })), bodies } };
}
