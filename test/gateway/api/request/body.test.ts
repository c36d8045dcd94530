import { afterAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { GatewayError, errorResponse } from "../../../../src/kernel/errors.ts";
import { systemClock } from "../../../../src/kernel/clock.ts";
import {
  bodiesBytesMax,
  bodiesPerKeyBytesMax,
  bodiesReserveBytes,
  bodyBytesMax,
  openAnswersPerKeyMax,
} from "../../../../src/gateway/limits.ts";
import type { Caller } from "../../../../src/gateway/admission/message.ts";
import type { ByteLease } from "../../../../src/accounts/quotas/byte-budget.ts";
import { readBody, bodyBudget } from "../../../../src/gateway/api/request/body.ts";
import { InFlightRequests } from "../../../../src/gateway/api/in-flight-requests.ts";
import { drainRequest } from "../../../../src/http/body.ts";
import { ManualClock, settled } from "../../../support/clock.ts";
import { failureOf } from "../../../support/failure-of.ts";

/** A lease of a budget that is not reached, unless the test gives one. */
function leaseFor(budget = bodyBudget(), key = "key"): { lease: ByteLease; caller: Caller } {
  const record = { id: key, workspace: `workspace of ${key}`, requestsPerMinute: 120 };
  return { lease: budget.lease({ key, workspace: record.workspace }), caller: { hash: "", record } as unknown as Caller };
}

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  maxRequestBodySize: 64 * 1024 * 1024,
  async fetch(request) {
    if (request.headers.has("x-refuse")) {
      await drainRequest(request, systemClock);
      return errorResponse(new GatewayError("invalid_api_key"));
    }
    try {
      const body = await readBody(request, { clock: systemClock, bodyMs: 5_000, ...leaseFor() });
      return Response.json({ bytes: body.length });
    } catch (error) {
      if (error instanceof GatewayError) return errorResponse(error);
      throw error;
    }
  },
});
afterAll(() => server.stop(true));

interface RawAnswer {
  text: string;
  error: string | null;
}

/** Sends head and body over a bare socket, at the server's pace, and reads until the server closes. */
function sendRaw(head: string[], pieces: Iterable<string | Uint8Array>): Promise<RawAnswer> {
  const socket = connect(server.port ?? 0, "127.0.0.1");
  let text = "";
  let failure: string | null = null;
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("data", (data) => (text += data.toString()));
  socket.on("error", (error) => (failure = error.message));
  const send = async () => {
    socket.write(`POST / HTTP/1.1\r\nHost: weir\r\nConnection: close\r\n${head.map((line) => `${line}\r\n`).join("")}\r\n`);
    for (const piece of pieces) {
      if (socket.destroyed) return;
      if (!socket.write(piece)) await Promise.race([closed, new Promise((resolve) => socket.once("drain", resolve))]);
    }
  };
  return send()
    .then(() => closed)
    .then(() => ({ text, error: failure }));
}

function* plain(bytes: number): Generator<Uint8Array> {
  for (let left = bytes; left > 0; left -= 65_536) yield Buffer.alloc(Math.min(left, 65_536), 0x61);
}

function* chunked(bytes: number): Generator<Uint8Array> {
  for (const piece of plain(bytes))
    yield Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]);
  yield Buffer.from("0\r\n\r\n");
}

describe("a body with Content-Length", () => {
  test("a body of exactly 8 MiB passes", async () => {
    const { text } = await sendRaw([`Content-Length: ${bodyBytesMax}`], plain(bodyBytesMax));
    expect(text).toContain("200 OK");
    expect(text).toContain(`{"bytes":${bodyBytesMax}}`);
  });

  test("a body of one byte more is request_too_large before the client sends any of it", async () => {
    const { text } = await sendRaw([`Content-Length: ${bodyBytesMax + 1}`, "Expect: 100-continue"], plain(bodyBytesMax + 1));
    expect(text).toContain("413 Payload Too Large");
    expect(text).toContain('"code":"request_too_large"');
  });
});

describe("a body without Content-Length", () => {
  test("a body of exactly 8 MiB passes", async () => {
    const { text } = await sendRaw(["Transfer-Encoding: chunked"], chunked(bodyBytesMax));
    expect(text).toContain(`{"bytes":${bodyBytesMax}}`);
  });

  test("a body of one byte more is request_too_large", async () => {
    const { text } = await sendRaw(["Transfer-Encoding: chunked"], chunked(bodyBytesMax + 1));
    expect(text).toContain('"code":"request_too_large"');
  });
});

describe("a client that sends everything before it reads", () => {
  test("a client that sends 20 MiB with Content-Length can read the 413", async () => {
    const bytes = 20 * 1024 * 1024;
    const { text, error } = await sendRaw([`Content-Length: ${bytes}`], plain(bytes));
    expect(error).toBeNull();
    expect(text).toContain('"code":"request_too_large"');
  });

  test("a client that sends 20 MiB in chunks can read the 413", async () => {
    const { text, error } = await sendRaw(["Transfer-Encoding: chunked"], chunked(20 * 1024 * 1024));
    expect(error).toBeNull();
    expect(text).toContain('"code":"request_too_large"');
  });

  test("a client can read an error that does not depend on the body", async () => {
    const bytes = 4 * 1024 * 1024;
    const { text, error } = await sendRaw([`Content-Length: ${bytes}`, "X-Refuse: 1"], plain(bytes));
    expect(error).toBeNull();
    expect(text).toContain('"code":"invalid_api_key"');
  });

  test("a client can read the 413 on a kept connection, which then serves the next request", async () => {
    const url = `http://127.0.0.1:${server.port}/`;
    const large = await fetch(url, { method: "POST", body: new Uint8Array(12 * 1024 * 1024) });
    expect(large.status).toBe(413);
    expect(await large.json()).toMatchObject({ error: { code: "request_too_large", param: null } });
    const small = await fetch(url, { method: "POST", body: "{}" });
    expect(await small.json()).toEqual({ bytes: 2 });
  });
});

describe("the refusal of a body", () => {
  test("a compressed body is invalid_request", async () => {
    const request = new Request("http://weir/", { method: "POST", body: "{}", headers: { "content-encoding": "gzip" } });
    await expect(readBody(request, { clock: systemClock, bodyMs: 1_000, ...leaseFor() })).rejects.toMatchObject({
      code: "invalid_request",
      message: "The request body must not be compressed",
    });
  });

  test("a body that does not arrive in time is invalid_request", async () => {
    const clock = new ManualClock();
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(10)),
      cancel: () => void (cancelled = true),
    });
    const request = new Request("http://weir/", { method: "POST", body });
    const reading = readBody(request, { clock, bodyMs: 30_000, ...leaseFor() });
    reading.catch(() => {});
    await clock.pass(29_999);
    expect(cancelled).toBe(false);
    await clock.pass(1);
    await expect(reading).rejects.toMatchObject({ code: "invalid_request", message: "The request body did not arrive in time" });
    await settled();
    expect(cancelled).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test("a body whose client breaks off is invalid_request", async () => {
    const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("reset")) });
    const request = new Request("http://weir/", { method: "POST", body });
    await expect(readBody(request, { clock: new ManualClock(), bodyMs: 30_000, ...leaseFor() })).rejects.toMatchObject({
      code: "invalid_request",
    });
  });
});

test("drainRequest ignores a body that was read or is being read", async () => {
  const headers = { connection: "close" };
  const read = new Request("http://weir/", { method: "POST", body: "{}", headers });
  await read.text();
  await drainRequest(read, systemClock);
  const locked = new Request("http://weir/", { method: "POST", body: new ReadableStream(), headers });
  locked.body?.getReader();
  await drainRequest(locked, systemClock);
  expect(locked.body?.locked).toBe(true);
});

describe("a large body that is refused", () => {
  const large = { "content-length": String(8 * 1024 * 1024) };
  const piece = new Uint8Array(128 * 1024);

  function refused(headers: Record<string, string>) {
    const clock = new ManualClock();
    const { readable: body, writable } = new TransformStream<Uint8Array, Uint8Array>();
    let answered = false;
    const reading = drainRequest(new Request("http://weir/", { method: "POST", body, headers }), clock);
    void reading.then(() => (answered = true));
    return { clock, reading, sender: writable.getWriter(), answered: () => answered };
  }

  test("the gateway drains a large refused body before it answers, since the server would drain it afterwards at full speed", async () => {
    const { clock, reading, sender, answered } = refused(large);
    await sender.write(piece);
    await clock.pass(999);
    expect(answered()).toBe(false);
    void sender.close();
    await reading;
    expect(clock.pending).toBe(0);
  });

  test("the gateway stops draining once the sender has paused for a second", async () => {
    const { clock, reading, answered } = refused(large);
    await clock.pass(999);
    expect(answered()).toBe(false);
    await clock.pass(1);
    await reading;
    expect(clock.pending).toBe(0);
  });

  test("the gateway leaves a small refused body to the server", async () => {
    await refused({ "content-length": String(1024 * 1024) }).reading;
  });
});

test("a body with identity encoding and an absent body pass", async () => {
  const options = { clock: systemClock, bodyMs: 1_000, ...leaseFor() };
  const request = new Request("http://weir/", { method: "POST", body: "{}", headers: { "content-encoding": "identity" } });
  expect(new TextDecoder().decode(await readBody(request, options))).toBe("{}");
  expect((await readBody(new Request("http://weir/", { method: "POST" }), options)).length).toBe(0);
});

describe("bodies in flight", () => {
  const clock = new ManualClock();
  const never = (headers: Record<string, string> = {}) =>
    new Request("http://weir/", { method: "POST", body: new ReadableStream({ pull: () => new Promise(() => {}) }), headers });
  const declared = (bytes: number) => never({ "content-length": String(bytes) });
  const read = (request: Request, of: ReturnType<typeof leaseFor>) => readBody(request, { clock, bodyMs: 30_000, ...of });

  test("a body beyond its key's budget is rate_limited, with the key's requests per minute, before a byte is read", async () => {
    const budget = bodyBudget();
    for (let body = 0; body < bodiesPerKeyBytesMax / bodyBytesMax; body++) leaseFor(budget).lease.grow(bodyBytesMax);
    const error = await failureOf(read(declared(bodyBytesMax), leaseFor(budget)));
    expect(error).toMatchObject({ code: "rate_limited", status: 429, headers: { "retry-after": "1", "retry-after-ms": "1000" } });
    expect(String(error)).toContain("120 requests per minute");
    expect(budget.total).toBe(bodiesPerKeyBytesMax);
  });

  test("a large body beyond the gateway's budget is 503, and a small one still passes", async () => {
    const budget = bodyBudget();
    const large = Math.floor((bodiesBytesMax - bodiesReserveBytes) / bodyBytesMax);
    for (let body = 0; body < large; body++) leaseFor(budget, `key ${body % 8}`).lease.grow(bodyBytesMax);
    expect(await failureOf(read(declared(bodyBytesMax), leaseFor(budget, "other")))).toMatchObject({
      code: "billing_unavailable",
      headers: { "retry-after": "1", "x-should-retry": "true" },
    });
    const request = new Request("http://weir/", { method: "POST", body: "{}" });
    expect((await read(request, leaseFor(budget, "other"))).length).toBe(2);
  });

  test("a body of unknown length counts as it arrives", async () => {
    const budget = bodyBudget();
    const full = leaseFor(budget);
    full.lease.grow(bodiesPerKeyBytesMax - 1_000);
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(400)) });
    const request = new Request("http://weir/", { method: "POST", body });
    const reading = leaseFor(budget);
    expect(await failureOf(read(request, reading))).toMatchObject({ code: "rate_limited" });
    expect(reading.lease.bytes).toBe(800);
    reading.lease[Symbol.dispose]();
    full.lease[Symbol.dispose]();
    expect(budget.total).toBe(0);
  });
});

test("a key with the most open answers that it may have is refused until one has ended", () => {
  const inFlight = new InFlightRequests();
  const { caller } = leaseFor();
  const holder = { key: caller.record.id, workspace: caller.record.workspace };
  const [first] = Array.from({ length: openAnswersPerKeyMax }, () => inFlight.begin(holder));
  expect(() => inFlight.requireCapacity(caller)).toThrow(
    "Too many requests at once for this key, which may make 120 requests per minute",
  );
  inFlight.requireCapacity(leaseFor(bodyBudget(), "other").caller);
  if (first) inFlight.done(first);
  inFlight.requireCapacity(caller);
});
