/**
 * The HTTP application: all APIs, and the answer to unknown paths. Clients whose base URL lacks `/gpt/v1` show their users only "404
 * status code (no body)", so the log gets a hint now and then.
 */
import { Elysia } from "elysia";
import { connectorRoutes, type ConnectorParts } from "../connectors/pages/routes.ts";
import type { ConsoleParts } from "../console/page.ts";
import { consoleRoutes } from "../console/routes.ts";
import { controlApi } from "../control-api/api.ts";
import type { ControlParts } from "../control-api/parts.ts";
import type { Gateway } from "../gateway/api/gateway.ts";
import { inferencePrefix, inferenceRoutes, notFound } from "../gateway/api/routes.ts";
import type { RefundParts } from "../gateway/top-ups/change-top-up.ts";
import { stripeWebhookRoutes, type WebhookParts } from "../gateway/top-ups/webhook.ts";
import { assetRoutes } from "../http/assets.ts";
import { requestTarget } from "../http/router.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { openApiDocument } from "../openapi/document.ts";
import { healthRoutes, publicReadiness, watchHealth, type Health } from "../process/health.ts";
import { version } from "../process/version.ts";
import { toolsRoutes } from "../security/api/routes.ts";
import type { ToolsParts } from "../security/api/run-operation.ts";
import { wrongPathHintMs } from "./limits.ts";
import { frontDoorRoutes, unknownPage } from "./pages/front-door.ts";
import { referenceRoutes } from "./pages/reference.ts";

export interface AppParts {
  gateway: Gateway;
  control: ControlParts;
  tools: ToolsParts;
  connectors: ConnectorParts;
  health: Health;
  /** The address that PUBLIC_URL names; null: it is not set. */
  publicOrigin: string | null;
  /** null: the Console is off. */
  console: ConsoleParts | null;
  /** Accepts Stripe's events; null: cards are not accepted. */
  topUps: (WebhookParts & RefundParts) | null;
}

const descriptionHeaders = { "content-type": "application/json", "x-content-type-options": "nosniff" };

/** `fetch` of the result is a web-standard handler: it runs on any runtime with `Request` and `Response`. */
export function makeApp({ gateway, control, tools, connectors, health, publicOrigin, console, topUps }: AppParts) {
  // Making it takes too long in a process that serves, and its text takes a sixth of its memory.
  const description = JSON.stringify(openApiDocument(tools));
  const current = watchHealth(health);
  const hintPath = wrongPathHints({ prefix: inferencePrefix, clock: gateway.clock, log: gateway.log });
  const shared = { consoleOn: console !== null, publicOrigin, clock: gateway.clock };
  // Serves paths for any Host; the default requires a Host of at least four characters.
  const app = new Elysia({ normalize: false, handler: { standardHostname: false } })
    .onError(({ code, request }) => {
      if (code !== "NOT_FOUND") return undefined;
      hintPath(request);
      return unknownPage(request, shared) ?? notFound();
    })
    .get("/openapi.json", () => new Response(description, { headers: descriptionHeaders }))
    .use(
      frontDoorRoutes({
        ...shared,
        slug: tools.slug,
        version,
        readiness: async () => publicReadiness(await current()),
        models: gateway.models,
        connectors: () => connectors.catalogCache.published?.connectors.length ?? null,
      }),
    )
    .use(referenceRoutes({ ...shared, description }))
    .use(assetRoutes(gateway.clock))
    .use(healthRoutes(health, current))
    .use(inferenceRoutes(gateway))
    .use(toolsRoutes(tools))
    .use(connectorRoutes({ ...connectors, consoleOn: shared.consoleOn }))
    .use(controlApi(control));
  if (topUps !== null) app.use(stripeWebhookRoutes(topUps));
  return console === null ? app : app.use(consoleRoutes(console));
}

/** The endpoints that clients of the format call. */
const endpoints = ["/chat/completions", "/completions", "/embeddings", "/models", "/responses"];
const pathCharactersMax = 80;

/** @returns call it for each request to an unknown path; it logs one hint per endpoint now and then */
export function wrongPathHints({
  prefix,
  clock,
  log,
}: {
  prefix: string;
  clock: Clock;
  log: Logger;
}): (request: Request) => void {
  const hintedAt = new Map<string, number>();
  return (request) => {
    const { path } = requestTarget(request);
    const endpoint = endpoints.find((one) => path.endsWith(one));
    if (endpoint === undefined || path.length > pathCharactersMax) return;
    const nowMs = clock.monotonic();
    if (nowMs - (hintedAt.get(endpoint) ?? -Infinity) < wrongPathHintMs) return;
    hintedAt.set(endpoint, nowMs);
    const hint = path.startsWith(prefix) ? `there is no ${endpoint} here` : `a client's base URL must end with ${prefix}`;
    log.info({ event: "path.unknown", path }, `${path} is not served: ${hint}`);
  };
}
