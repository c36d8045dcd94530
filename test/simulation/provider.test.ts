/** The simulated provider gets no request whose time is over, as a real one gets none from the gateway's transport. */
import { expect, test } from "bun:test";
import { holdMs } from "../../src/backing/limits.ts";
import { aReservation, testGeneration } from "../support/providers/call.ts";
import { allModels } from "./catalog.ts";
import { Chance } from "./chance.ts";
import { Recorder } from "./recorder.ts";
import { Scheduler } from "./scheduler.ts";
import { providerKey } from "./secrets.ts";
import { Timeouts } from "./variants/timeouts.ts";
import { Host } from "./world/host.ts";
import { Provider } from "./world/provider.ts";

/** Each call waits three seconds for its connection. */
class SlowConnections extends Timeouts {
  override connection(): { ms: number; fails: boolean } {
    return { ms: 3_000, fails: false };
  }
}

/** Calls twice; `meanwhile` happens a second after the first call. @returns how often it was called */
function callsOf(meanwhile: (world: { step(ms: number): void; host: Host }) => void): number {
  const chance = new Chance(1);
  const scheduler = new Scheduler(chance);
  const recorder = new Recorder(scheduler, chance);
  const host = new Host("gateway", { scheduler, startMs: 0 });
  let steppedMs = 0;
  const countersNow = (): number => scheduler.now + steppedMs;
  const never = { openOwnKey: providerKey, onOtherPayer: () => {} };
  const timeouts = new SlowConnections(chance);
  const { embed } = new Provider({ host, chance, recorder, timeouts, countersNow, gateway: "gateway", ...never });
  const [route] = allModels.find("acme/embed")?.routes ?? [];
  if (!route) throw new Error("The model has no route");
  const inputs = { kind: "texts" as const, texts: ["word"] };
  const form = { dimensions: null, inputType: null, dimensionsExpected: 4, normalize: false };
  const call = { generation: testGeneration, route, inputs, ...form };
  const send = (): void => void embed(aReservation(), call).catch(() => {});
  scheduler.plan(0, host, send);
  scheduler.plan(1_000, null, () => meanwhile({ step: (ms) => void (steppedMs += ms), host }));
  scheduler.plan(40_000, host, send);
  scheduler.advance(120_000);
  return recorder.history.filter(({ kind }) => kind === "called").length;
}

test("a call that waits for its connection is sent", () => {
  expect(callsOf(() => {})).toBe(2);
  expect(callsOf(({ step }) => step(holdMs - 120_000))).toBe(2);
});

test("no call is sent after its gateway stood still, or after its hold ended, while it waited", () => {
  expect(callsOf(({ host }) => host.freeze(31_000))).toBe(0);
  expect(callsOf(({ step }) => step(holdMs))).toBe(0);
});
