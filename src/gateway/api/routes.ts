/** Maps the six endpoints of /gpt/v1 to their functions. Wrong methods and paths get the answers that the specification fixes. */
import { Elysia } from "elysia";
import { bunStream } from "./stream/bun-stream.ts";
import type { CreateStream } from "./stream/client-stream.ts";
import { withErrorBoundary } from "./error-boundary.ts";
import { chatCompletion } from "./pipeline.ts";
import { describeKey } from "./describe-key.ts";
import { notServed } from "./not-served.ts";
import { listModels, showModel } from "./model-routes.ts";
import { webStream } from "./stream/web-stream.ts";
import type { Gateway } from "./gateway.ts";
import { jsonResponse } from "../../kernel/json-response.ts";

export const inferencePrefix = "/gpt/v1";

/** Bun's server, whose idle timer must not end a quiet stream. Other runtimes have no such timer. */
interface TimedServer {
  timeout(request: Request, seconds: number): void;
}

interface RouteContext {
  request: Request;
  server?: TimedServer | null;
}

type Endpoint = (request: Request, gateway: Gateway, createStream: CreateStream) => Promise<Response>;

export function inferenceRoutes(gateway: Gateway): Elysia {
  const app = new Elysia({ prefix: inferencePrefix, normalize: false });
  const route = (method: "GET" | "POST", path: string, endpoint: Endpoint): void => {
    const answer = ({ request, server }: RouteContext): Promise<Response> | Response => {
      if (request.method !== method) return methodNotAllowed(method);
      server?.timeout(request, 0);
      return withErrorBoundary(request, gateway, endpoint(request, gateway, server ? bunStream : webStream));
    };
    app.all(path, answer as (context: unknown) => Promise<Response> | Response, { parse: "none" });
  };
  route("POST", "/chat/completions", chatCompletion);
  route("POST", "/embeddings", notServed);
  route("POST", "/completions", notServed);
  route("GET", "/models", listModels);
  route("GET", "/models/*", showModel);
  route("GET", "/key", describeKey);
  return app as unknown as Elysia;
}

export function methodNotAllowed(allow: string): Response {
  return jsonResponse({ detail: "Method Not Allowed" }, { status: 405, headers: { allow } });
}

export function notFound(): Response {
  return jsonResponse({ detail: "Not Found" }, { status: 404 });
}
