/**
 * /health shows that the process runs, /ready whether it can serve, /metrics its metrics, and the control API its state. Each check runs at
 * most once a second for all callers. The causes of problems name files, addresses and tables, so only the operator sees them. Requests
 * through a proxy on this machine come from loopback too, so the address proves nothing.
 */
import { Type, type Static } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { type Clock, isoTime } from "../kernel/clock.ts";
import { jsonResponse } from "../kernel/json.ts";
import { registry, raisedAlarms } from "../kernel/metrics.ts";
import { peerAddress, type Peers } from "../kernel/proxies.ts";
import { healthKeptMs } from "./limits.ts";
import { memoizeFor } from "./memoize-for.ts";
import { version } from "./version.ts";

/** The state of one part: null if it works, else a text that names the problem. */
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

/** Each part by its name: `ok` or its problem, which only the operator may see. */
export interface HealthState {
  ready: boolean;
  states: Record<string, string>;
}

/** Every check runs at most once a second, for all callers. */
export function watchHealth(health: Health): () => Promise<HealthState> {
  const checked = memoizeFor(healthKeptMs, health.clock, () => runChecks(health.checks));
  return async () => {
    const states = await checked();
    return { ready: health.serving() && Object.values(states).every((state) => state === "ok"), states };
  };
}

/** The state as anyone may see it. */
export function publicReadiness({ ready, states }: HealthState): Static<typeof Readiness> {
  return { ready, dependencies: withoutCauses(states) };
}

/** @param current of `watchHealth` */
export function healthRoutes(health: Health, current: () => Promise<HealthState>): Elysia {
  const app = new Elysia({ normalize: false });
  const isOperator = (request: Request, server: Peers) => health.isOperator(request, peerAddress(request, server));
  const metrics = memoizeFor(healthKeptMs, health.clock, () => registry.metrics());
  app.get("/health", () => new Response("ok\n", { headers: { "content-type": "text/plain; charset=utf-8" } }));
  app.get("/ready", async ({ request, server }) => {
    const state = await current();
    const { ready, states } = state;
    const body = isOperator(request, server) ? { ready, dependencies: states } : publicReadiness(state);
    return jsonResponse(body, { status: ready ? 200 : 503, headers: { "cache-control": "no-store" } });
  });
  app.get("/metrics", async ({ request, server }) => {
    // Requests through a proxy on this machine come from loopback too, so the address proves nothing.
    if (!isOperator(request, server)) return new Response("Forbidden\n", { status: 403 });
    return new Response(await metrics(), { headers: { "content-type": registry.contentType } });
  });
  return app as unknown as Elysia;
}

/** @returns each check by its name: `ok` or the problem */
export async function runChecks(checks: Record<string, Check>): Promise<Record<string, string>> {
  const states = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const problem = await check().catch((error: unknown) => String(error));
      return [name, problem ?? "ok"] as const;
    }),
  );
  return Object.fromEntries(states);
}

export const AlarmCount = Type.Object({
  alarm: Type.String({ description: "Its name, as in the log and in the metric `weir_alarms_total`" }),
  count: Type.Integer({ description: "How often this process raised it since it started" }),
});

/** The state of this process, as the operator sees it. */
export const ServiceView = Type.Object({
  version: Type.String({ description: "The version of Weir" }),
  started_at: Type.String({ description: "When this process started, ISO 8601 in UTC" }),
  dependencies: Type.Record(Type.String(), Type.String(), { description: "By the part's name `ok` or the problem" }),
  alarms: Type.Array(AlarmCount, { description: "The alarms that were raised" }),
});
export type ServiceView = Static<typeof ServiceView>;

export function serviceState(checks: Record<string, Check>, clock: Clock): () => Promise<ServiceView> {
  const startedAt = isoTime(clock.now());
  return async () => {
    const [dependencies, alarms] = await Promise.all([runChecks(checks), raisedAlarms()]);
    return { version, started_at: startedAt, dependencies, alarms };
  };
}

/** Problems name files, addresses and tables, which only the operator may see. */
function withoutCauses(states: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(states).map(([name, state]) => [name, state === "ok" ? "ok" : "unavailable"]));
}
