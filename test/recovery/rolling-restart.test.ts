/** docs/explanation/how-it-runs.md promises that clients do not notice when gateways restart one after another. */
import { expect, test } from "bun:test";
import { testServers } from "../support/servers/services.ts";
import { runRestartsOnOnePort } from "../chaos/harness/restarts-on-one-port.ts";
import { runRollingRestart } from "../chaos/harness/rolling-restart.ts";

/** All that these tests wait for has a limit of its own, which a busy machine may need. */
const testMsMax = 300_000;
const servers = await testServers();

test.skipIf(servers === null)(
  "a restart of every gateway refuses or breaks none of 200 open streams and steady requests, and all are settled",
  async () => {
    if (servers === null) throw new Error("There are no servers");
    const { calls, violations, tally } = await runRollingRestart({
      servers,
      streams: 200,
      streamSeconds: 4,
      requestsPerSecond: 20,
      // A busy machine needs time to see that a gateway leaves.
      leaveMs: 3_000,
      logLevel: "fatal",
      say: () => {},
    });
    expect(violations).toEqual([]);
    expect(tally).toMatchObject({ unknown: 0, lost: [], doubled: [], unmetered: [] });
    expect(tally.charged).toBeGreaterThan(calls * 0.9);
  },
  testMsMax,
);

test.skipIf(servers === null)(
  "a restart of gateways that share a port loses no connection of clients that connect for each request",
  async () => {
    const plan = { connections: 1_000, restarts: 2, leaveMs: 200, say: () => {} };
    const { opened, answered, violations } = await runRestartsOnOnePort(plan);
    expect(violations).toEqual([]);
    expect(answered).toBe(opened);
  },
  testMsMax,
);
