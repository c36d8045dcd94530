/** /health says that the process is up, /ready whether it can serve, /metrics what it counted. */
import { Type, type Static } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Clock } from "./kernel/clock.ts";
import { registry } from "./kernel/metrics.ts";
import { healthKeptMs } from "./limits/quotas.ts";
import { sharedFor } from "./process/shared-for.ts";

/** The state of one part: null is well, a text says what is wrong. */
export type Check = () => Promise<string | null>;

export interface Health {
  /** Named as in /ready. */
  checks: Record<string, Check>;
  /** False once the process was told to stop. */
  serving: () => boolean;
  /** Whether this request may read the metrics: from loopback, or with the operator's token. */
  mayReadMetrics: (request: Request, address: string | null) => boolean;
  clock: Clock;
}

export const Readiness = Type.Object({
  ready: Type.Boolean({ description: "Whether it can serve" }),
  dependencies: Type.Record(Type.String(), Type.String(), { description: "`ok`, or what is wrong, by the part's name" }),
});

export function healthRoutes(health: Health): Elysia {
  const app = new Elysia({ normalize: false });
  const states = sharedFor(healthKeptMs, health.clock, () => runChecks(health.checks));
  const metrics = sharedFor(healthKeptMs, health.clock, () => registry.metrics());
  app.get("/health", () => new Response("ok\n", { headers: { "content-type": "text/plain; charset=utf-8" } }));
  app.get("/ready", async () => {
    const dependencies = await states();
    const ready = health.serving() && Object.values(dependencies).every((state) => state === "ok");
    const body: Static<typeof Readiness> = { ready, dependencies };
    return Response.json(body, { status: ready ? 200 : 503 });
  });
  app.get("/metrics", async ({ request, server }) => {
    const address = server?.requestIP(request)?.address ?? null;
    if (!health.mayReadMetrics(request, address)) return new Response("Forbidden\n", { status: 403 });
    return new Response(await metrics(), { headers: { "content-type": registry.contentType } });
  });
  return app as unknown as Elysia;
}

async function runChecks(checks: Record<string, Check>): Promise<Record<string, string>> {
  const states = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const problem = await check().catch((error: unknown) => String(error));
      return [name, problem ?? "ok"] as const;
    }),
  );
  return Object.fromEntries(states);
}
