/** The headers of the inference API's answers, with the names from src/gateway/api/answer/headers.ts. */
import { generationHeaders, retryHeaders, windowHeaders } from "../gateway/api/answer/headers.ts";
import type { JsonSchema } from "../http/json-schema.ts";
import type { Reference } from "./operation.ts";

export interface Header {
  description: string;
  schema: JsonSchema;
  "x-addition"?: true;
}

const ours = { "x-addition": true } as const;
const text = { type: "string" };
const count = { type: "integer", minimum: 0 };

export const headers: Record<string, Header> = {
  "x-generation-id": { description: "Id of the generation, in every answer after the request was accepted", schema: text },
  "x-request-id": { description: "Internal audit id, in every answer after the request was accepted", schema: text },
  "retry-after": { description: "When to try again, in whole seconds", schema: { type: "integer", minimum: 1 } },
  "retry-after-ms": { description: "The same, in milliseconds", schema: { type: "integer", minimum: 1 }, ...ours },
  "x-ratelimit-limit-requests": { description: "The key's requests in any 60 seconds", schema: count, ...ours },
  "x-ratelimit-remaining-requests": {
    description: "How many requests are left in the minute, as of a few seconds ago where several gateways serve the key",
    schema: count,
    ...ours,
  },
  "x-ratelimit-reset-requests": {
    description: "When the full limit is available again, such as `59.5s` or `120ms`",
    schema: text,
    ...ours,
  },
  "x-route": {
    description:
      "The route that served: `<provider id>/<model id>`, with `; key=own` on the workspace's own key. Early access: only while the workspace has routing on",
    schema: text,
  },
  "x-should-retry": {
    description: "Whether the same request may succeed later: official SDKs read it before the status",
    schema: { type: "string", enum: ["true", "false"] },
    ...ours,
  },
};

/** On every answer after acceptance. */
export const generationNames: string[] = Object.keys(generationHeaders({ generation: "", request: "" }));
/** On every answer that a provider served while the workspace has routing on. */
export const routeNames = ["x-route"];
/** On every answer to a POST that reached the check of requests per minute. */
export const windowNames: string[] = Object.keys(windowHeaders({ limit: 0, remaining: 0, resetMs: 0 }));
/** On every 429. */
export const retryNames: string[] = Object.keys(retryHeaders(0));

export function headerReferences(names: readonly string[]): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
