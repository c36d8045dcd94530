/** Sends one request and records everything that its client sees. */
import { embeddingsModel } from "../world/testbed.ts";
import { isRepetition, type ClientCall } from "./client-call.ts";

export interface Sending {
  url: string;
  secret: string;
  /** Of a chat or completion. */
  model: string;
  /** Instructions for the provider, such as `tokens=12 gap_ms=50`. */
  content: string;
  maxTokens: number;
  /** Of a chat or completion. */
  routing?: { models?: string[]; provider?: object };
  /** The client hangs up after this time. */
  timeoutMs: number;
}

/** Tries the next gateway where a connection is refused, as a load balancer does. Never rejects. */
export async function sendToAny(
  call: ClientCall,
  sending: Omit<Sending, "url">,
  gateways: readonly { url: string }[],
): Promise<void> {
  const first = call.gateway;
  for (let shift = 0; shift < gateways.length; shift++) {
    call.gateway = (first + shift) % gateways.length;
    if (await send(call, { ...sending, url: gateways[call.gateway]?.url ?? "" })) return;
  }
}

/** Never rejects. @returns false when the connection was refused, so that nothing was sent */
async function send(call: ClientCall, { url, secret, ...asked }: Sending): Promise<boolean> {
  const leaving = new AbortController();
  const timer = setTimeout(() => leaving.abort(), asked.timeoutMs);
  try {
    const repeats = call.idempotencyKey === null ? {} : { "idempotency-key": call.idempotencyKey };
    const response = await fetch(`${url}/gpt/v1/${call.endpoint === "chat" ? "chat/completions" : call.endpoint}`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", ...repeats },
      body: JSON.stringify(bodyOf(call, asked)),
      signal: leaving.signal,
    });
    call.answeredAt = Date.now();
    call.status = response.status;
    call.generation = response.headers.get("x-generation-id");
    noteEnd(call, await response.text());
  } catch (error) {
    if (isRefusedConnection(error)) return false;
    call.hungUp = leaving.signal.aborted;
    call.broke = error instanceof Error && "code" in error ? String(error.code) : String(error);
  } finally {
    clearTimeout(timer);
    call.endedAt = Date.now();
  }
  return true;
}

function bodyOf(
  { endpoint, number, streamed }: ClientCall,
  { model, content, maxTokens, routing }: Omit<Sending, "url" | "secret">,
) {
  const prompt = `${content} call=${number}`;
  if (endpoint === "embeddings") return { model: embeddingsModel, input: prompt };
  const common = { model, ...routing, stream: streamed };
  if (endpoint === "responses") return { ...common, input: prompt, max_output_tokens: maxTokens };
  const asked = endpoint === "completions" ? { prompt } : { messages: [{ role: "user", content: prompt }] };
  return { ...common, ...asked, max_tokens: maxTokens };
}

function noteEnd(call: ClientCall, text: string): void {
  call.code = /"code":"(\w+)"/.exec(text)?.[1] ?? null;
  call.whole = call.status === 200 && call.code === null && (!call.streamed || ends[call.endpoint].test(text));
  // It names the generation that the key was spent on, which another request began.
  if (isRepetition(call)) call.generation = null;
}

const done = /data: \[DONE\]\n\n$/;
/** The last event of a complete stream. */
const ends: Record<ClientCall["endpoint"], RegExp> = {
  chat: done,
  completions: done,
  embeddings: done,
  messages: /event: message_stop\ndata: .*\n\n$/,
  responses: /event: response\.completed\ndata: .*\n\n$/,
};

/** The error codes of Bun and Node. */
function isRefusedConnection(error: unknown): boolean {
  return error instanceof Error && "code" in error && ["ConnectionRefused", "ECONNREFUSED"].includes(String(error.code));
}
