/** What the platforms' stubs share: a repository in memory, as git sees it, and a server that records its requests. */
import { createHash } from "node:crypto";

/** Contents by path; a link is `{link: "target"}`. */
export type Content = Record<string, string | Uint8Array | { link: string }>;

export interface Blob {
  path: string;
  sha: string;
  mode: string;
  bytes: Uint8Array;
}

export function blobsOf(content: Content): Blob[] {
  return Object.entries(content).map(([path, value]) => {
    const isLink = typeof value === "object" && !(value instanceof Uint8Array);
    const bytes = value instanceof Uint8Array ? value : new TextEncoder().encode(typeof value === "string" ? value : value.link);
    return { path, sha: shaOf(bytes), mode: isLink ? "120000" : "100644", bytes };
  });
}

/** As git names a blob. */
export function shaOf(bytes: Uint8Array | string): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

export interface Asked {
  path: string;
  query: URLSearchParams;
  headers: Headers;
}

export interface PlatformStub extends AsyncDisposable {
  /** Without a slash at its end. */
  url: string;
  /** Paths with their queries. */
  asked: string[];
  /** Violations of the platform's documentation; a good client causes none. */
  violations: string[];
  /** Answers in place of the normal ones, one for each request; null lets one through. */
  next: (Response | null)[];
}

/** @param answer a text is a violation, answered with 400 */
export function startStub(prefix: string, answer: (asked: Asked) => Response | string): PlatformStub {
  const asked: string[] = [];
  const violations: string[] = [];
  const next: (Response | null)[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const url = new URL(request.url);
      if (url.pathname.startsWith(`${prefix}/silent/`)) return new Promise<Response>(() => {});
      const path = url.pathname.slice(prefix.length);
      asked.push(path + url.search);
      const planned = next.shift() ?? null;
      if (planned !== null) return planned;
      const isRead = request.method === "GET" && url.pathname.startsWith(prefix);
      const given = isRead
        ? answer({ path, query: url.searchParams, headers: request.headers })
        : `${request.method} ${url.pathname}`;
      if (typeof given !== "string") return given;
      violations.push(given);
      return Response.json({ message: given }, { status: 400 });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}${prefix}`,
    asked,
    violations,
    next,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** The first query parameter that the documentation does not name. */
export function unknownQuery(query: URLSearchParams, known: readonly string[]): string | undefined {
  return [...query.keys()].find((key) => !known.includes(key));
}
