/** Sends one request and records everything that its client sees. */
import { model } from "../world/testbed.ts";
import type { ClientCall } from "./client-call.ts";

interface Sending {
  url: string;
  secret: string;
  /** Instructions for the provider, such as `tokens=12 gap_ms=50`. */
  content: string;
  maxTokens: number;
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
async function send(call: ClientCall, { url, secret, content, maxTokens, timeoutMs }: Sending): Promise<boolean> {
  const leaving = new AbortController();
  const timer = setTimeout(() => leaving.abort(), timeoutMs);
  const prompt = `${content} call=${call.number}`;
  const isChat = call.number % 3 > 0;
  const asked = isChat ? { messages: [{ role: "user", content: prompt }] } : { prompt };
  const body = { model, ...asked, max_tokens: maxTokens, stream: call.streamed };
  try {
    const response = await fetch(`${url}/gpt/v1/${isChat ? "chat/" : ""}completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify(body),
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

function noteEnd(call: ClientCall, text: string): void {
  call.code = /"code":"(\w+)"/.exec(text)?.[1] ?? null;
  call.whole = call.status === 200 && call.code === null && (!call.streamed || text.endsWith("data: [DONE]\n\n"));
}

/** The error codes of Bun and Node. */
function isRefusedConnection(error: unknown): boolean {
  return error instanceof Error && "code" in error && ["ConnectionRefused", "ECONNREFUSED"].includes(String(error.code));
}
