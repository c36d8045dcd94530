/** /health shows that the process runs, /ready whether it can serve, /metrics what it counted. */
import { Type, type Static } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Clock } from "../kernel/clock.ts";
import { jsonResponse } from "../kernel/json-response.ts";
import { registry } from "../kernel/metrics.ts";
import { peerAddress, type Peers } from "../kernel/peer-address.ts";
import { healthKeptMs } from "./limits.ts";
import { memoizeFor } from "./memoize-for.ts";

/** The state of one part: null is well, a text names the problem. */
export type Check = () => Promise<string | null>;

export interface Health {
  /** By their names in /ready. */
  checks: Record<string, Check>;
  /** False once the process is stopping. */
  serving: () => boolean;
  /** Whether the request carries the operator's token. */
  isOperator: (request: Request, address: string | null) => boolean;
  clock: Clock;
}

export const Readiness = Type.Object({
  ready: Type.Boolean({ description: "Whether it can serve" }),
  dependencies: Type.Record(Type.String(), Type.String(), {
    description: "By the part's name `ok` or `unavailable`; with the operator token, the problem",
  }),
});

export function healthRoutes(health: Health): Elysia {
  const app = new Elysia({ normalize: false });
  const isOperator = (request: Request, server: Peers) => health.isOperator(request, peerAddress(request, server));
  const checked = memoizeFor(healthKeptMs, health.clock, () => runChecks(health.checks));
  const metrics = memoizeFor(healthKeptMs, health.clock, () => registry.metrics());
  app.get("/health", () => new Response("ok\n", { headers: { "content-type": "text/plain; charset=utf-8" } }));
  app.get("/ready", async ({ request, server }) => {
    const states = await checked();
    const ready = health.serving() && Object.values(states).every((state) => state === "ok");
    const dependencies = isOperator(request, server) ? states : withoutCauses(states);
    const body: Static<typeof Readiness> = { ready, dependencies };
    return jsonResponse(body, { status: ready ? 200 : 503, headers: { "cache-control": "no-store" } });
  });
  app.get("/metrics", async ({ request, server }) => {
    // Requests through a proxy on this machine come from loopback too, so the address proves nothing.
    if (!isOperator(request, server)) return new Response("Forbidden\n", { status: 403 });
    return new Response(await metrics(), { headers: { "content-type": registry.contentType } });
  });
  return app as unknown as Elysia;
}

/** By name `ok` or the problem. */
export async function runChecks(checks: Record<string, Check>): Promise<Record<string, string>> {
  const states = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const problem = await check().catch((error: unknown) => String(error));
      return [name, problem ?? "ok"] as const;
    }),
  );
  return Object.fromEntries(states);
}

/** Problems name files, addresses and tables, which only the operator may see. */
function withoutCauses(states: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(states).map(([name, state]) => [name, state === "ok" ? "ok" : "unavailable"]));
}
