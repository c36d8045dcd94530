/** The mock provider's process, and how its models are called. */
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

/** Connections are open then, and what is called for every request is compiled: a service runs for days, not for its first second. */
export const warmUpSeconds = 5;

const chatPath = "/v1/chat/completions";

export async function startProvider(): Promise<Provider> {
  const child = new Child({ name: "provider", arguments: ["bench/mock-provider.ts"] });
  return { port: await child.port(), pid: child.pid, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() };
}

export function chatUrl({ port }: Provider): string {
  return `http://127.0.0.1:${port}${chatPath}`;
}

/** What the load generator is told to reach something that speaks OpenAI's paths, ours apart. */
export function openaiTarget(port: number, key = "bench"): string[] {
  return ["--url", `http://127.0.0.1:${port}`, "--key", key, "--path", chatPath];
}

/** Of contenders that name models as the provider does. */
export function itself(upstream: string): string {
  return upstream;
}

/** Nothing in between. */
export function direct(provider: Provider): Contender {
  return {
    name: "direct",
    warmUpSeconds,
    model: itself,
    start: async () => ({ target: openaiTarget(provider.port), usage: () => ({}), async [Symbol.asyncDispose]() {} }),
  };
}

/** The same runtime, bytes in and bytes out. */
export function bareProxy(provider: Provider): Contender {
  return {
    name: "bare proxy",
    warmUpSeconds,
    model: itself,
    async start() {
      const child = new Child({ name: "bare proxy", arguments: ["bench/bare-proxy.ts", chatUrl(provider)] });
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
