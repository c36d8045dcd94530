/** The one HTTP application: planes mounted, and the bodies of wrong paths and methods. */
import { Elysia } from "elysia";
import { inferenceRoutes, notFound } from "../gateway/api/routes.ts";
import { healthRoutes, type Health } from "../process/health.ts";
import { controlApi } from "../control-api/api.ts";
import type { ControlParts } from "../control-api/parts.ts";
import { connectorRoutes, type ConnectorParts } from "../connectors/catalog/http/routes.ts";
import type { Gateway } from "../gateway/api/gateway.ts";
import { openApiDocument } from "../openapi/document.ts";
import type { ToolsParts } from "../security/api/calls/parts.ts";
import { toolsRoutes } from "../security/api/routes.ts";

export interface AppParts {
  gateway: Gateway;
  control: ControlParts;
  tools: ToolsParts;
  connectors: ConnectorParts;
  health: Health;
}

const descriptionHeaders = { "content-type": "application/json", "x-content-type-options": "nosniff" };

/** `fetch` of the result is a web-standard handler: it runs wherever `Request` and `Response` do. */
export function makeApp({ gateway, control, tools, connectors, health }: AppParts) {
  const description = JSON.stringify(openApiDocument(tools));
  // Paths are to be found behind any Host, and not, as by default, behind those of four characters and more alone.
  return new Elysia({ normalize: false, handler: { standardHostname: false } })
    .onError(({ code }) => (code === "NOT_FOUND" ? notFound() : undefined))
    .get("/openapi.json", () => new Response(description, { headers: descriptionHeaders }))
    .use(healthRoutes(health))
    .use(inferenceRoutes(gateway))
    .use(toolsRoutes(tools))
    .use(connectorRoutes(connectors))
    .use(controlApi(control));
}
