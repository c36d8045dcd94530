/** The operation of the Workbench: the body and the answers of a chat completion, with the refusals of the control API beside. */
import type { JsonSchema } from "../http/json-schema.ts";
import { jsonContent, type Exchange, type ResponseDescription } from "./operation.ts";

/** @param refusals the control API's answers by status */
export function asChat(chat: Exchange, refusals: Record<string, ResponseDescription>): Exchange {
  const merged = Object.entries(refusals).map(([status, refusal]): [string, ResponseDescription] => {
    const answer = chat.responses[status];
    return [status, answer === undefined ? refusal : either(answer, refusal)];
  });
  return { requestBody: chat.requestBody, responses: { ...chat.responses, ...Object.fromEntries(merged) } };
}

function either(answer: ResponseDescription, refusal: ResponseDescription): ResponseDescription {
  const anyOf = [answer, refusal].map(({ content }): JsonSchema => content?.["application/json"]?.schema ?? {});
  const description = `${answer.description}. Before the request is the inference API's: ${refusal.description}`;
  return { ...answer, description, content: jsonContent({ anyOf }) };
}
