/** The front door at / for people, and the icon. Everybody else gets at / what every unknown path gives. */
import { notFound } from "../../../gateway/api/routes.ts";
import type { Models } from "../../../gateway/models/models.ts";
import { htmlType, iconSvg, pageHeaders } from "../../../http/page.ts";
import { Router, type Routes } from "../../../http/router.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { healthKeptMs } from "../../../process/limits.ts";
import { memoizeFor } from "../../../process/memoize-for.ts";
import { callableModels } from "./callable-models.ts";
import { frontDoorStyle, frontDoorText } from "./front-door-page.ts";
import { prefersHtml } from "./prefers-html.ts";
import { serviceOrigin } from "../service-origin.ts";
import { copyScript } from "../site-header.ts";
import type { Readiness } from "./state-words.ts";

export interface FrontDoorParts {
  version: string;
  slug: string;
  consoleOn: boolean;
  /** null: PUBLIC_URL is not set. */
  publicOrigin: string | null;
  /** Without causes, as everybody may see it. */
  readiness: () => Promise<Readiness>;
  models: Pick<Models, "readable" | "catalog" | "list" | "availability">;
  /** null while there is no catalog. */
  connectors: () => number | null;
  clock: Clock;
}

const headers = {
  ...pageHeaders({ style: frontDoorStyle, scripts: [copyScript], forms: "self" }),
  "content-type": htmlType,
  "cache-control": "no-store",
  vary: "accept",
};

const iconHeaders = {
  "content-type": "image/svg+xml",
  "cache-control": "public, max-age=86400",
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'",
};

export function frontDoorRoutes({ models, readiness, connectors, publicOrigin, clock, ...fixed }: FrontDoorParts): Routes {
  const router = new Router({ clock });
  const counted = memoizeFor(healthKeptMs, clock, async () => callableModels(models));
  const show = async (request: Request): Promise<Response> => {
    if (!prefersHtml(request.headers.get("accept"))) return notFound();
    const [state, counts] = await Promise.all([readiness(), counted()]);
    const door = {
      ...fixed,
      origin: serviceOrigin(request, publicOrigin),
      readiness: state,
      models: counts,
      connectors: connectors(),
    };
    return new Response(frontDoorText(door), { headers });
  };
  // The router sends no body to HEAD.
  const route = (path: string, handle: (request: Request) => Response | Promise<Response>): void =>
    router.add({
      path,
      handle: ({ request }) => (request.method === "GET" || request.method === "HEAD" ? handle(request) : notFound()),
      writeError: () => notFound(),
    });
  route("/", show);
  route("/favicon.ico", () => new Response(iconSvg, { headers: iconHeaders }));
  return router.app;
}
