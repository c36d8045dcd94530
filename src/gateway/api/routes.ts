/** Maps the endpoints of /gpt/v1 to their functions. Wrong methods and paths get the answers that the specification fixes. */
import type { CreateStream } from "./stream/client-stream.ts";
import { Router, type RouteContext, type Routes } from "../../http/router.ts";
import { countRequest } from "../../kernel/metrics.ts";
import { errorAnswer } from "./error-answer.ts";
import { chatCompletion, completion } from "./pipeline.ts";
import { createEmbeddings } from "./embeddings.ts";
import { describeGeneration } from "./describe-generation.ts";
import { describeKey } from "./describe-key.ts";
import { describeUsage } from "./describe-usage.ts";
import { listModels, showModel } from "./model-routes.ts";
import { streamFor } from "./stream/stream-for.ts";
import type { Gateway } from "./gateway.ts";
import { jsonResponse } from "../../kernel/json-response.ts";

export const inferencePrefix = "/gpt/v1";

type Endpoint = (request: Request, gateway: Gateway, createStream: CreateStream) => Promise<Response>;

export function inferenceRoutes(gateway: Gateway): Routes {
  const router = new Router({ prefix: inferencePrefix, clock: gateway.clock });
  const writeError = (error: unknown): Response => errorAnswer(error, gateway);
  const route = (method: "GET" | "POST", path: string, endpoint: Endpoint): void => {
    const handle = async ({ request, server }: RouteContext): Promise<Response> => {
      const response = await endpoint(request, gateway, streamFor(request, server));
      if (response.ok) countRequest(response.status, "none");
      return response;
    };
    router.add({ path, methods: [method], handle, writeError });
  };
  route("POST", "/chat/completions", chatCompletion);
  route("POST", "/embeddings", createEmbeddings);
  route("POST", "/completions", completion);
  route("GET", "/models", listModels);
  route("GET", "/models/*", showModel);
  route("GET", "/key", describeKey);
  route("GET", "/usage", describeUsage);
  route("GET", "/generation", describeGeneration);
  return router.app;
}

export function notFound(): Response {
  return jsonResponse({ detail: "Not Found" }, { status: 404 });
}
