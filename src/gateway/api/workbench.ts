/** A chat completion for a member in the Console's Workbench: the same pipeline, with the member in place of a key. */
import type { KeyId } from "../../kernel/ids.ts";
import { countRequest } from "../../kernel/metrics.ts";
import { drainRequest } from "../../http/drain-request.ts";
import type { RouteContext } from "../../http/router.ts";
import { authenticateMember } from "./authenticate.ts";
import { errorAnswer } from "./error-answer.ts";
import type { Gateway } from "./gateway.ts";
import { memberCompletion } from "./pipeline.ts";
import { streamFor } from "./stream/stream-for.ts";

export interface WorkbenchRun extends Pick<RouteContext, "request" | "server"> {
  /** The member's caller id. */
  caller: KeyId;
}

/** @returns the answer of POST /gpt/v1/chat/completions to the same body, or its error; never throws */
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
    return errorAnswer(error, gateway);
  }
}
