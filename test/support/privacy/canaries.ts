/** Texts that must not turn up where they do not belong, and a request that carries them wherever a client can put them. */
import type { ProviderStub } from "../providers/provider-stub.ts";

export interface Canaries {
  /** In what clients send. */
  prompt: string;
  /** In what clients send beside it: headers, the query, labels. */
  aside: string;
  /** For a model's id: it goes to a worker, which decides, and stays nowhere. */
  model: string;
  /** In what the provider answers. */
  answer: string;
  /** In the errors of the provider. */
  providerError: string;
  /** A key of the right form that nobody has, and one of no form at all. */
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

export interface Told {
  /** Generations that were answered with the canary of the answer. */
  answered: { generation: string; streamed: boolean }[];
  /** Generations whose provider failed before it said anything. */
  failed: string[];
  /** All that clients were sent by errors. */
  errors: string;
}

export interface Place {
  url: string;
  key: string;
  /** One that may send a single request a minute, and one whose workspace has nothing to spend. */
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

/** One chat with them all. */
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
  const asides = ["user-agent", "cookie", "x-request-id", "x-client-request-id", "openai-organization", "traceparent", "referer"];
  return fetch(`${url}/gpt/v1/chat/completions?aside=${aside}`, {
    method: "POST",
    headers: {
      ...Object.fromEntries(asides.map((name) => [name, aside])),
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(sent),
    ...(signal === undefined ? {} : { signal }),
  });
}
