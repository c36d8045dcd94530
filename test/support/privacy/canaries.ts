/** Texts that must not appear in wrong places, and a request that contains them wherever a client can put them. */
import type { ProviderStub } from "../providers/provider-stub.ts";

export interface Canaries {
  /** In the content that clients send. */
  prompt: string;
  /** In what clients send besides the content: headers, the query, labels. */
  aside: string;
  /** In a model's id: a worker receives it to decide, and it is stored nowhere. */
  model: string;
  /** In the provider's answer. */
  answer: string;
  /** In the provider's errors. */
  providerError: string;
  /** An unknown key in the right form, and one in the wrong form. */
  wrongKeys: string[];
}

export function newCanaries(): Canaries {
  const id = () => crypto.randomUUID().replaceAll("-", "");
  return {
    prompt: `canary-prompt-${id()}`,
    aside: `canary-aside-${id()}`,
    model: `canary-model-${id()}`,
    answer: `canary-answer-${id()}`,
    providerError: `canary-provider-error-${id()}`,
    wrongKeys: [`platform-api-${id()}${id()}`, `canary-key-${id()}`],
  };
}

export interface SentTraffic {
  /** Generations whose answer contained the answer's canary. */
  answered: { generation: string; streamed: boolean }[];
  /** Generations of embeddings. */
  embedded: string[];
  /** Generations whose provider failed before its answer began. */
  failed: string[];
  /** The text of all errors that clients received. */
  errors: string;
}

export interface Place {
  url: string;
  key: string;
  /** A key with one request a minute, and one whose workspace has no credit. */
  hastyKey: string;
  poorKey: string;
  stub: ProviderStub;
}

function messagesOf({ prompt }: Canaries): Record<string, unknown>[] {
  const call = { id: "call_1", type: "function", function: { name: "look", arguments: JSON.stringify({ at: prompt }) } };
  return [
    { role: "system", content: `You know ${prompt}` },
    { role: "user", content: [{ type: "text", text: `Say ${prompt}` }] },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "call_1", content: prompt },
  ];
}

/** One chat with all of them. */
export function send(
  canaries: Canaries,
  { url, key }: Pick<Place, "url" | "key">,
  { body = {}, signal }: { body?: Record<string, unknown>; signal?: AbortSignal } = {},
): Promise<Response> {
  const { prompt, aside } = canaries;
  const sent = {
    model: "stub/model",
    messages: messagesOf(canaries),
    max_tokens: 100,
    stop: [prompt],
    tools: [{ type: "function", function: { name: "look", description: prompt, parameters: { description: prompt } } }],
    user: aside,
    metadata: { aside },
    safety_identifier: aside.slice(0, 64),
    prompt_cache_key: aside,
    ...body,
  };
  return post(canaries, { url, key, path: "chat/completions" }, { body: sent, ...(signal && { signal }) });
}

/** One completion with all that it can have. */
export function sendPrompt(canaries: Canaries, { url, key }: Pick<Place, "url" | "key">, streamed: boolean): Promise<Response> {
  const { prompt, aside } = canaries;
  const body = { model: "stub/model", prompt: `Say ${prompt}`, stop: prompt, user: aside, stream: streamed };
  return post(canaries, { url, key, path: "completions" }, { body });
}

function post(
  { aside }: Canaries,
  { url, key, path }: Pick<Place, "url" | "key"> & { path: string },
  { body, signal }: { body: Record<string, unknown>; signal?: AbortSignal },
): Promise<Response> {
  const asides = ["user-agent", "cookie", "x-request-id", "x-client-request-id", "openai-organization", "traceparent", "referer"];
  return fetch(`${url}/gpt/v1/${path}?aside=${aside}`, {
    method: "POST",
    headers: {
      ...Object.fromEntries(asides.map((name) => [name, aside])),
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}
