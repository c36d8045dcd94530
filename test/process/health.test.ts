import { expect, test } from "bun:test";
import { healthRoutes, watchHealth, type Health } from "../../src/process/health.ts";
import { ManualClock } from "../support/clock.ts";

const cause = 'ENOENT: no such file, open "/var/lib/weir/catalog/providers.json"';
const health: Health = {
  checks: {
    database: async () => null,
    catalog: async () => cause,
    bus: () => Promise.reject(new Error("connect ECONNREFUSED 10.0.0.7:4222")),
  },
  serving: () => true,
  clock: new ManualClock(),
  isOperator: (request) => request.headers.has("authorization"),
};
const app = healthRoutes(health, watchHealth(health));
const readiness = async (headers: Record<string, string>) => {
  const answer = await app.handle(new Request("http://weir/ready", { headers }));
  return { status: answer.status, ...((await answer.json()) as { dependencies: unknown }) };
};

test("/ready shows everyone which parts work, and only the operator the problems of the others", async () => {
  const shown = { status: 503, ready: false };
  expect(await readiness({})).toEqual({ ...shown, dependencies: { database: "ok", catalog: "unavailable", bus: "unavailable" } });
  expect(await readiness({ authorization: "Bearer x" })).toEqual({
    ...shown,
    dependencies: { database: "ok", catalog: cause, bus: "Error: connect ECONNREFUSED 10.0.0.7:4222" },
  });
});
