/**
 * Routes a path to its handler, for every API: checks the path's methods, writes errors in the API's own form, and drains the body before
 * them. It sets no deadline: a stream may last long, and each API bounds its own work.
 */
import { Elysia } from "elysia";
import type { Peers } from "../kernel/proxies.ts";
import type { Clock } from "../kernel/clock.ts";
import { drainRequest } from "./body.ts";

/** The routes of one API, to be mounted in the application. */
export type Routes = Elysia;

/** Bun's server; other runtimes have none. */
type RouteServer = (NonNullable<Peers> & { timeout(request: Request, seconds: number): void }) | null;

export interface RouteContext {
  request: Request;
  /** Absent if the path has no parameters. */
  params?: Record<string, string>;
  server: RouteServer;
}

type Handler = (context: RouteContext) => Response | Promise<Response>;
export type ErrorWriter = (error: unknown, context: RouteContext) => Response | Promise<Response>;

interface RouterOptions {
  prefix?: string;
  clock: Clock;
}

interface Route {
  path: string;
  /** Absent: the handler accepts any method, or checks it by `requireMethod`. */
  methods?: readonly string[];
  handle: Handler;
  /** Writes an error as the API's answer. */
  writeError: ErrorWriter;
}

export class MethodNotAllowedError extends Error {
  override name = "MethodNotAllowedError";
  readonly method: string;
  readonly path: string;
  readonly allowed: readonly string[];

  constructor(request: Request, allowed: readonly string[]) {
    super("The path does not take the method");
    this.method = request.method;
    this.path = requestTarget(request).path;
    this.allowed = allowed;
  }

  get headers(): { allow: string } {
    return { allow: this.allowed.join(", ") };
  }
}

/** @throws MethodNotAllowedError */
export function requireMethod(request: Request, allowed: readonly string[]): void {
  if (!allowed.includes(request.method)) throw new MethodNotAllowedError(request, allowed);
}

export class Router {
  readonly #app: Elysia;
  readonly #clock: Clock;

  constructor({ prefix = "", clock }: RouterOptions) {
    this.#app = withoutPrefixType(new Elysia({ prefix, normalize: false }));
    this.#clock = clock;
  }

  get app(): Routes {
    return this.#app;
  }

  add(route: Route): void {
    // These names show Elysia that it need not parse a query, headers or a body.
    const handle = ({ request, params, server }: RouteContext) =>
      this.#answer({ request, server, ...(params && { params }) }, route);
    this.#app.all(route.path, handle as (context: unknown) => Promise<Response>, { parse: "none" });
  }

  async #answer(context: RouteContext, { methods, handle, writeError }: Route): Promise<Response> {
    try {
      if (methods) requireMethod(context.request, methods);
      return await handle(context);
    } catch (error) {
      await drainRequest(context.request, this.#clock);
      return writeError(error, context);
    }
  }
}

/**
 * The target of a request, as its client wrote it. The runtime prepends the Host header unchecked, and `new URL` throws if that is not a
 * host; no header may make a path unreadable.
 */
export function requestTarget({ url }: Request): { path: string; query: URLSearchParams } {
  const [, path = "", query = ""] = /^(?:[a-z]+:\/\/[^/?#]*)?([^?#]*)\??([^#]*)/i.exec(url) ?? [];
  return { path, query: new URLSearchParams(query) };
}

/** The prefix is part of Elysia's type, and of no use there. */
function withoutPrefixType(app: unknown): Elysia {
  return app as Elysia;
}
