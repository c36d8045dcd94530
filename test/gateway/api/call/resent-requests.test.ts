/** The gateway calls a provider at most twice for one request, however the connections end. */
import { expect, test } from "bun:test";
import type { Socket } from "node:net";
import { dispatch } from "../../../../src/gateway/api/call/dispatch.ts";
import { StopSignal } from "../../../../src/kernel/clock.ts";
import { staleConnectionMsMax } from "../../../../src/gateway/limits.ts";
import { callProvider } from "../../../../src/gateway/providers/http.ts";
import { aContext, aReservation, testGeneration } from "../../../support/providers/call.ts";
import { ManualClock } from "../../../support/clock.ts";
import { aModel, aRoute } from "../../../support/providers/models.ts";
import { RawServer } from "../../../support/servers/raw-server.ts";
import { until } from "../../../support/until.ts";

const body = JSON.stringify({ choices: [{ message: { content: "Hi" }, finish_reason: "stop" }] });
const answer = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

/** A provider with four kept connections. `reply` answers further requests. */
async function provider(reply: (socket: Socket) => void) {
  let calls = 0;
  const kept: Socket[] = [];
  const told: string[] = [];
  const server = await new RawServer((socket) => {
    if (++calls > 4) return reply(socket);
    if (kept.push(socket) === 4) for (const one of kept) one.write(answer);
  }).listen();
  const clock = new ManualClock();
  const route = aRoute({ base_url: `http://127.0.0.1:${server.port}/v1` });
  const ask = (fallbacks: boolean) =>
    dispatch({
      reservation: { generation: testGeneration },
      requestFor: () => ({ chat: { model: "stub/model", messages: [{ role: "user", content: "Hello" }] }, maxOutputTokens: 100 }),
      streamed: false,
      candidates: [{ model: aModel(), route }],
      fallbacks,
      onUsage() {},
      onResent: () => void told.push("resent"),
      callRoute: (call, _, { givenUp }) =>
        callProvider(aReservation(), call, aContext({ clock, givenUp, onSent: () => void told.push("sent") })),
      clientSignal: new AbortController().signal,
      stop: new StopSignal(),
      acquireDrainSlot: () => null,
      clock,
    });
  await Promise.all(Array.from({ length: 4 }, () => ask(true)));
  return {
    ask,
    clock,
    told: () => told.slice(4),
    calls: () => calls - 4,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

test.each([
  ["on", 2],
  ["off", 1],
] as const)("with fallbacks %s the gateway calls a provider that works and then resets %d times", async (fallbacks, expected) => {
  const working: Socket[] = [];
  await using world = await provider((socket) => void working.push(socket));
  const outcome = world.ask(fallbacks === "on");
  for (let call = 0; call < expected; call++) {
    await until(() => working.length === call + 1);
    world.clock.advance(staleConnectionMsMax + 1);
    working[call]?.destroy();
  }
  expect(await outcome).toMatchObject({ kind: "failed", failure: { code: "upstream_error" } });
  expect(world.calls()).toBe(expected);
});

test.each(["on", "off"])(
  "with fallbacks %s the gateway sends a request twice to a provider that resets at once",
  async (fallbacks) => {
    await using world = await provider((socket) => socket.destroy());
    expect((await world.ask(fallbacks === "on")).kind).toBe("failed");
    expect(world.calls()).toBe(2);
  },
);

test.each(["on", "off"])(
  "with fallbacks %s the gateway uses a new connection when the provider had closed the kept one",
  async (fallbacks) => {
    let closed = false;
    await using world = await provider((socket) => {
      if (closed) socket.write(answer);
      else socket.destroy();
      closed = true;
    });
    expect((await world.ask(fallbacks === "on")).kind).toBe("whole");
    expect(world.calls()).toBe(2);
    // Whoever counts what is owed hears that the first one did not arrive.
    expect(world.told()).toEqual(["sent", "resent", "sent"]);
  },
);
