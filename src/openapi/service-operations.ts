/** The paths for monitoring. */
import { Readiness } from "../process/health.ts";
import { jsonSchema } from "../http/json-schema.ts";
import { jsonContent, type ResponseDescription, type Paths } from "./operation.ts";

const plainText = (description: string): ResponseDescription => ({
  description,
  content: { "text/plain": { schema: { type: "string" } } },
});

export function servicePaths(): Paths {
  const readiness = jsonContent(jsonSchema(Readiness, new Map()));
  const shared = { tags: ["service"], security: [] };
  return {
    "/health": {
      get: { ...shared, operationId: "health", summary: "Whether the process runs", responses: { "200": plainText("It runs") } },
    },
    "/ready": {
      get: {
        ...shared,
        operationId: "ready",
        summary: "Whether the process can serve, and the state of each part that it needs",
        description: "The problem of a part is shown only with the operator token",
        security: [{}, { operatorToken: [] }],
        responses: {
          "200": { description: "It can", content: readiness },
          "503": { description: "It cannot, or it is stopping", content: readiness },
        },
        "x-addition": true,
      },
    },
    "/metrics": {
      get: {
        ...shared,
        operationId: "metrics",
        summary: "Metrics in the Prometheus text format",
        description: "With the operator token; a separate port (`METRICS_PORT`) needs none",
        security: [{ operatorToken: [] }],
        responses: { "200": plainText("The metrics"), "403": plainText("Without the token") },
        "x-addition": true,
      },
    },
    "/openapi.json": {
      get: {
        ...shared,
        operationId: "openapi",
        summary: "The OpenAPI document of every API",
        responses: { "200": { description: "OpenAPI 3.1.0", content: jsonContent({ type: "object" }) } },
        "x-addition": true,
      },
    },
  };
}
