/** Requests to the inference API, like a client's. */

export interface ChatPlan {
  url: string;
  key: string;
  body?: Record<string, unknown>;
  signal?: AbortSignal;
}

/** One unary or streamed request, unread. */
export function chat({ url, key, body, signal }: ChatPlan): Promise<Response> {
  return fetch(`${url}/gpt/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "stub/model", messages: [{ role: "user", content: "Hello" }], ...body }),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** One completion, whole or streamed, unread. */
export function completion({ url, key, body }: ChatPlan): Promise<Response> {
  return fetch(`${url}/gpt/v1/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "stub/model", prompt: "Hello", ...body }),
  });
}

export interface Outcome {
  status: number;
  /** The error's code; null: success. */
  code: string | null;
  generation: string | null;
  headers: Headers;
}

/** Sends a request and reads its answer to the end; status 0: the connection broke. */
export async function outcomeOf(request: Promise<Response>): Promise<Outcome> {
  try {
    const response = await request;
    const text = await response.text();
    const code = response.ok ? null : ((JSON.parse(text) as { error: { code: string } }).error.code ?? null);
    return { status: response.status, code, generation: response.headers.get("x-generation-id"), headers: response.headers };
  } catch {
    return { status: 0, code: null, generation: null, headers: new Headers() };
  }
}

/** How often each status and code occurred, such as `{"200": 37, "402 insufficient_credit": 463}`. */
export function tally(outcomes: Outcome[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, code } of outcomes) {
    const name = code === null ? String(status) : `${status} ${code}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
