/**
 * Maps the endpoints of /gpt/v1 to their functions, and turns what they throw into answers. Wrong methods and paths get the answers that
 * the specification fixes, in its error format. The Console's Workbench enters here too, without HTTP: a member takes the place of the key,
 * and the rest of the pipeline is the same.
 */
import { drainRequest } from "../../http/body.ts";
import { Router, type RouteContext, type Routes } from "../../http/router.ts";
import type { KeyId } from "../../kernel/ids.ts";
import { jsonResponse } from "../../kernel/json.ts";
import type { ErrorShape } from "../../kernel/errors.ts";
import { countRequest } from "../../kernel/metrics.ts";
import type { RefusedEndpoint } from "../refusals/schema.ts";
import { type CreateStream, streamFor } from "./answer/response.ts";
import { countInputTokens, countTokens } from "./count-tokens.ts";
import { authenticateMember } from "./authenticate.ts";
import { describeGeneration, describeKey, describeUsage } from "./describe.ts";
import { createEmbeddings } from "./embeddings.ts";
import { errorAnswer } from "./error-answer.ts";
import type { Gateway } from "./gateway.ts";
import { listModels, showModel } from "./models.ts";
import { messagesErrors } from "./messages/errors.ts";
import { chatCompletion, completion, createMessage, createResponse, keptResponse, memberCompletion } from "./pipeline.ts";
import { responsesErrors } from "./responses/answer.ts";

export const inferencePrefix = "/gpt/v1";

type Endpoint = (request: Request, gateway: Gateway, createStream: CreateStream) => Promise<Response>;

interface Named {
  /** What lists of refused calls name it. */
  name: RefusedEndpoint;
  /** How it writes errors; absent: as chat completions. */
  shape?: ErrorShape;
}

export function inferenceRoutes(gateway: Gateway): Routes {
  const router = new Router({ prefix: inferencePrefix, clock: gateway.clock });
  /** @param method `any`: the endpoint says which it takes */
  const route = (method: "GET" | "POST" | "any", path: string, endpoint: Endpoint, { name, shape }: Named): void => {
    const writeError = (error: unknown): Response => errorAnswer(error, gateway, { endpoint: name, shape });
    const handle = async ({ request, server }: RouteContext): Promise<Response> => {
      const response = await endpoint(request, gateway, streamFor(request, server));
      if (response.ok) countRequest(response.status, "none");
      return response;
    };
    router.add({ path, ...(method !== "any" && { methods: [method] }), handle, writeError });
  };
  route("POST", "/chat/completions", chatCompletion, { name: "chat" });
  route("POST", "/embeddings", createEmbeddings, { name: "embeddings" });
  route("POST", "/completions", completion, { name: "completions" });
  // Some clients of Messages append the version to an address that has it.
  for (const base of ["", "/v1"]) {
    route("POST", `${base}/messages`, createMessage, { name: "messages", shape: messagesErrors });
    route("POST", `${base}/messages/count_tokens`, countTokens, { name: "count_tokens", shape: messagesErrors });
  }
  route("any", "/responses", createResponse, { name: "responses", shape: responsesErrors });
  route("POST", "/responses/input_tokens", countInputTokens, { name: "count_tokens", shape: responsesErrors });
  route("any", "/responses/*", keptResponse, { name: "responses", shape: responsesErrors });
  route("GET", "/models", listModels, { name: "models" });
  route("GET", "/models/*", showModel, { name: "models" });
  route("GET", "/key", describeKey, { name: "key" });
  route("GET", "/usage", describeUsage, { name: "usage" });
  route("GET", "/generation", describeGeneration, { name: "generation" });
  return router.app;
}

export function notFound(): Response {
  return jsonResponse({ detail: "Not Found" }, { status: 404 });
}

export interface WorkbenchRun extends Pick<RouteContext, "request" | "server"> {
  /** The member's caller id. */
  caller: KeyId;
}

/**
 * A chat completion for a member in the Workbench.
 * @returns the answer of POST /gpt/v1/chat/completions to the same body, or its error; never throws
 */
export async function runInWorkbench({ request, server, caller }: WorkbenchRun, gateway: Gateway): Promise<Response> {
  try {
    const createStream = streamFor(request, server);
    const response = await memberCompletion(
      { request, createStream, findCaller: () => authenticateMember(caller, gateway) },
      gateway,
    );
    if (response.ok) countRequest(response.status, "none");
    return response;
  } catch (error) {
    await drainRequest(request, gateway.clock);
    return errorAnswer(error, gateway, { endpoint: "chat" });
  }
}
