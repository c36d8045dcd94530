/** The mock provider's process, its models, and the two contenders without a gateway. */
import { agentApis, type AgentApi } from "../load/agent-body.ts";
import { Child } from "../processes/child.ts";
import { usageOf } from "../processes/usage.ts";
import type { Contender } from "./contender.ts";

export interface Provider extends AsyncDisposable {
  port: number;
  pid: number;
}

/** Answers at once with 16 tokens. */
export const instantModel = "instant-16";
/** 10 events a second for 20 seconds. */
export const pacedModel = "paced-100-200";

/** 300 events at once. */
export const agentModel = "agent-300";

/** Answers vectors of 1,536 numbers. */
export const embedModel = "embed";

/** After this time connections are open and the hot code is compiled, as in a service that runs for days. */
export const warmUpSeconds = 5;

const chatPath = "/v1/chat/completions";
export const agentPaths: Record<AgentApi, string> = { chat: chatPath, messages: "/v1/messages", responses: "/v1/responses" };
export const embeddingsPath = "/v1/embeddings";

export async function startProvider(): Promise<Provider> {
  const child = new Child({ name: "provider", arguments: ["bench/mock-provider.ts"] });
  return { port: await child.port(), pid: child.pid, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() };
}

export function chatUrl({ port }: Provider): string {
  return `http://127.0.0.1:${port}${chatPath}`;
}

export function embeddingsUrl({ port }: Provider): string {
  return `http://127.0.0.1:${port}${embeddingsPath}`;
}

/** The load generator's arguments for an API with OpenAI's paths. */
export function openaiTarget(port: number, key = "bench"): string[] {
  return ["--url", `http://127.0.0.1:${port}`, "--key", key, "--path", chatPath];
}

/** The same for an API of agents. */
export function agentTarget(port: number, api: AgentApi): string[] {
  return [...openaiTarget(port), "--path", agentPaths[api]];
}

/** The model's name at contenders that use the provider's names. */
export function sameName(upstream: string): string {
  return upstream;
}

/** The provider without a gateway. */
export function direct(provider: Provider): Contender {
  return {
    name: "direct",
    warmUpSeconds,
    model: sameName,
    agentModel: () => agentModel,
    start: async () => ({
      target: openaiTarget(provider.port),
      agentTarget: (api) => agentTarget(provider.port, api),
      usage: () => ({}),
      async [Symbol.asyncDispose]() {},
    }),
  };
}

/** A proxy on the same runtime that only forwards bytes. @param url where to; default: chat completions */
export function bareProxy(provider: Provider, url = chatUrl(provider)): Contender {
  return {
    name: "bare proxy",
    warmUpSeconds,
    model: sameName,
    async start() {
      const child = new Child({ name: "bare proxy", arguments: ["bench/bare-proxy.ts", url] });
      const port = await child.port();
      return {
        target: openaiTarget(port),
        usage: () => ({ "bare proxy": usageOf(child.pid) }),
        front: child.pid,
        [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
      };
    },
  };
}

/** A bare proxy for each API of agents, since each forwards to one address. */
export function bareProxies(provider: Provider): Contender {
  return {
    ...bareProxy(provider),
    agentModel: () => agentModel,
    async start() {
      await using stack = new AsyncDisposableStack();
      const started = agentApis.map((api) => {
        const url = `http://127.0.0.1:${provider.port}${agentPaths[api]}`;
        return { api, child: stack.use(new Child({ name: `bare proxy, ${api}`, arguments: ["bench/bare-proxy.ts", url] })) };
      });
      const ports = new Map<AgentApi, number>();
      for (const { api, child } of started) ports.set(api, await child.port());
      const kept = stack.move();
      return {
        target: openaiTarget(ports.get("chat") ?? 0),
        agentTarget: (api) => agentTarget(ports.get(api) ?? 0, api),
        usage: () => Object.fromEntries(started.map(({ child }) => [child.name, usageOf(child.pid)])),
        [Symbol.asyncDispose]: () => kept.disposeAsync(),
      };
    },
  };
}
