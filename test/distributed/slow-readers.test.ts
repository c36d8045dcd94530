/** Clients that never read slow their provider down, and use no memory. */
import { afterAll, beforeAll, describe, test } from "bun:test";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import type { Fleet } from "../support/servers/fleet.ts";
import type { ProviderStub } from "../support/providers/provider-stub.ts";
import { chat, chunk, type StubAnswer } from "../support/providers/stub-answers.ts";
import { testServices } from "../support/servers/services.ts";
import { until } from "../support/until.ts";
import { sharedFleet } from "./shared-fleet.ts";

const services = await testServices();
const clients = 100;
const mebibyte = 1024 * 1024;

describe.skipIf(services === null)(`${clients} clients that never read`, () => {
  let fleet: Fleet;
  let stub: ProviderStub;
  let written = 0;

  /** Writes as fast as the socket accepts, without end. */
  const endless: StubAnswer = async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const event = `data: ${JSON.stringify(chunk({ content: "x".repeat(16_384) }))}\n\n`;
    while (!response.destroyed) {
      written += event.length;
      if (!response.write(event)) await once(response, "drain");
    }
  };

  beforeAll(async () => {
    ({ fleet, stub } = await sharedFleet());
    stub.answer(endless);
  }, 60_000);
  afterAll(() => stub.answer(chat("Hello")));

  function openAndNeverRead(key: string): Socket {
    const body = JSON.stringify({ model: "stub/model", stream: true, messages: [{ role: "user", content: "Go on" }] });
    const head = `POST /gpt/v1/chat/completions HTTP/1.1\r\nHost: weir\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${body.length}\r\n\r\n`;
    const socket = connect(fleet.gateways[0]?.port ?? 0, "127.0.0.1", () => socket.write(head + body));
    socket.on("error", () => {});
    return socket.pause();
  }

  const memory = (): number => {
    const status = readFileSync(`/proc/${fleet.gateways[0]?.process.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
  };

  test.skipIf(process.platform !== "linux")(
    "unread streams stop their providers, and the gateway's memory does not grow",
    async () => {
      const { keys } = await fleet.operator().customer({ credit: "2000" });
      const idle = memory();
      const before = stub.calls.length;
      const sockets = Array.from({ length: clients }, () => openAndNeverRead(keys[0]?.key ?? ""));
      await stub.called(before + clients);
      try {
        let seen = -1;
        await until(async () => {
          const stopped = written === seen;
          seen = written;
          await new Promise((resolve) => setTimeout(resolve, 300));
          return stopped;
        }, 40_000);
        // The runtime's HTTP client buffers up to 3 MiB of an unread body (measured on Bun 1.4.4); Weir's buffers one line. What was
        // copied on the way is freed later on a busy machine.
        await until(() => memory() - idle < clients * 5 * mebibyte, 20_000);
      } finally {
        for (const socket of sockets) socket.destroy();
      }
      await until(() => stub.calls.every(({ state }) => state !== "open"), 20_000);
    },
    100_000,
  );
});
