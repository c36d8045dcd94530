/**
 * A short run of `npm run chaos`: a few seconds of seeded faults, then every invariant. How soon all answers are good again is measured by
 * that command: beside other tests a killed process takes long to start.
 */
import { expect, test } from "bun:test";
import { testServers } from "../support/servers/services.ts";
import type { Fault } from "./harness/faults/fault.ts";
import { runChaos } from "./harness/run-chaos.ts";

const servers = await testServers();

/** Quick faults, and pairs that once broke an invariant. `npm run chaos` injects the others. */
const faults: Fault[][] = [
  [
    { kind: "kill", who: "worker-1" },
    { kind: "kill", who: "worker-2" },
  ],
  [{ kind: "kill", who: "gateway-1" }, { kind: "empty-redis" }],
  [{ kind: "silence", who: null, server: "redis", ms: 1_000 }, { kind: "end-sessions" }],
  [{ kind: "truncate", who: null, server: "nats", bytes: 300, ms: 500 }],
  [{ kind: "empty-redis" }, { kind: "freeze", who: "gateway-2", ms: 1_000 }],
  [
    { kind: "kill", who: "metering-1" },
    { kind: "full-disk", ms: 1_000 },
  ],
];

test.skipIf(servers === null)(
  "a fleet under load whose parts are killed, frozen, cut off and emptied loses and doubles no charge",
  async () => {
    if (servers === null) throw new Error("There are no servers");
    const { violations, tally, results, notes } = await runChaos({
      servers,
      seed: 1,
      seconds: 60,
      longestFaultMs: 1_000,
      requestsPerSecond: 60,
      logLevel: "fatal",
      say: () => {},
      faults,
      steadyMsMax: 120_000,
    });
    expect(violations).toEqual([]);
    expect(tally).toMatchObject({ lost: [], doubled: [], unmetered: [] });
    expect(notes.episodes.length).toBe(faults.length);
    const checks = new Map(results.map(({ id, checks }) => [id, checks]));
    for (const id of ["I-1", "I-2", "I-3", "I-4", "I-8", "I-9", "I-10", "I-11", "I-13", "I-15", "I-21", "I-23"])
      expect(checks.get(id)).toBeGreaterThan(0);
    expect(tally.charged).toBeGreaterThan(100);
    expect(tally.rerouted).toBeGreaterThan(0);
    const codes = new Set(notes.clients.map(({ code }) => code));
    for (const code of ["idempotency_spent", "idempotency_in_progress"]) expect(codes.has(code)).toBe(true);
    for (const endpoint of ["messages", "responses"])
      expect(notes.clients.filter((call) => call.whole && call.endpoint === endpoint).length).toBeGreaterThan(10);
  },
  300_000,
);
