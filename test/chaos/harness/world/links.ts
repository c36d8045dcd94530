/** The network between Weir's processes and the servers: one proxy for each pair. */
import type { ServiceUrls } from "../../../../scripts/services.ts";
import { TcpProxy } from "./tcp-proxy.ts";

export type ServerName = "nats" | "redis" | "postgres";
export const serverNames: readonly ServerName[] = ["nats", "redis", "postgres"];

const variables = { nats: "NATS_URL", redis: "REDIS_URL", postgres: "DATABASE_URL" } as const;

export class Links implements AsyncDisposable {
  readonly #urls: ServiceUrls;
  readonly #proxies: { part: string; server: ServerName; proxy: TcpProxy }[] = [];

  constructor(urls: ServiceUrls) {
    this.#urls = urls;
  }

  /** The addresses of the process's own proxies, as environment variables. */
  async environmentOf(part: string): Promise<Record<string, string>> {
    const environment: Record<string, string> = {};
    for (const server of serverNames) {
      const url = new URL(this.#urls[variables[server]]);
      const proxy = await TcpProxy.start(Number(url.port));
      this.#proxies.push({ part, server, proxy });
      url.port = String(proxy.port);
      environment[variables[server]] = url.href;
    }
    return environment;
  }

  /** @param part one process; null: all */
  between(part: string | null, server: ServerName): TcpProxy[] {
    const chosen = this.#proxies.filter((link) => link.server === server && (part === null || link.part === part));
    return chosen.map(({ proxy }) => proxy);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#proxies.map(({ proxy }) => proxy[Symbol.asyncDispose]()));
  }
}
