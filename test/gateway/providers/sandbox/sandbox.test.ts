import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readCatalog } from "../../../../src/gateway/models/catalog.ts";
import { StopSignal } from "../../../../src/kernel/clock.ts";
import type { Route } from "../../../../src/gateway/models/model.ts";
import { nextBytes } from "../../../../src/gateway/providers/transport/upstream-call.ts";
import { sandboxOf } from "../../../../src/gateway/providers/sandbox/transport.ts";
import { tokenCount, sandboxTokens } from "../../../../src/gateway/providers/sandbox/answer.ts";
import { callAnything, callStream, callWhole, failureOf, readAll } from "../../../support/providers/call.ts";
import { ManualClock, settled } from "../../../support/clock.ts";
import { writeCatalog } from "../../../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const route = await sandboxRoute();

async function sandboxRoute(): Promise<Route> {
  await using folder = await temporaryFolder();
  const catalog = await readCatalog(await writeCatalog(folder.path, {}), { sandbox: true });
  const [found] = catalog.models.get("sandbox/echo")?.routes ?? [];
  if (!found) throw new Error("The sandbox has no route");
  return found;
}

function saying(content: unknown, further: Record<string, unknown> = {}) {
  return { route, chat: { messages: [{ role: "user", content }], ...further }, maxOutputTokens: 50 };
}

const clocks = { connectMs: 5_000, firstByteMs: 600_000, idleMs: 300_000, streamMs: 900_000 };

describe("a token", () => {
  test.each([
    ["", 0],
    ["a", 1],
    ["abcd", 1],
    ["abcde", 2],
    ["😀", 1],
    ["a😀", 2],
    ["ééé", 2],
  ])("is one for each started four bytes of %p: %p", (text, count) => {
    expect(tokenCount(text)).toBe(count);
    expect(sandboxTokens(text, 1_000)).toHaveLength(count);
  });

  test("is never empty, and all of them are the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(30), (text, most) => {
        const all = sandboxTokens(text, Infinity);
        expect(all.join("")).toBe(text);
        expect(all).toHaveLength(tokenCount(text));
        expect(all.every((token) => token !== "")).toBe(true);
        expect(sandboxTokens(text, most)).toEqual(all.slice(0, most));
        expect(tokenCount(all.slice(0, most).join(""))).toBe(Math.min(most, all.length));
      }),
    );
  });
});

describe("the sandbox answers with the last user message", () => {
  const text = "Hello, how are you? 😀";

  test("whole", async () => {
    const answer = await callWhole(saying(text));
    expect(answer).toMatchObject({ message: { content: text, refusal: null }, finishReason: "stop" });
    expect(answer.usage).toMatchObject({ promptTokens: 6, completionTokens: 6 });
  });

  test("streamed, one token a chunk", async () => {
    const events = await callStream(saying(text));
    const pieces: unknown[] = [];
    for (let event = await events.next(); event !== null; event = await events.next()) {
      if (event.kind === "delta" && typeof event.delta["content"] === "string") pieces.push(event.delta["content"]);
    }
    expect(pieces).toEqual(sandboxTokens(text, Infinity));
  });

  test("in parts, with other messages before and after it", async () => {
    const messages = [
      { role: "system", content: "abcd" },
      { role: "user", content: "first" },
      {
        role: "user",
        content: [
          { type: "text", text: "se" },
          { type: "text", text: "cond" },
        ],
      },
      { role: "assistant", content: null },
    ];
    const answer = await callWhole({ ...saying(""), chat: { messages } });
    expect(answer.message.content).toBe("second");
    expect(answer.usage).toMatchObject({ promptTokens: 1 + 2 + 2, completionTokens: 2 });
  });

  test("cut at max_tokens, with finish length", async () => {
    const cut = { ...saying("abcdefghij"), maxOutputTokens: 2 };
    expect(await callWhole(cut)).toMatchObject({
      message: { content: "abcdefgh" },
      finishReason: "length",
      usage: { completionTokens: 2 },
    });
    expect(await readAll(await callStream(cut))).toMatchObject({ text: "abcdefgh", finishReasons: ["length"] });
  });

  test("not cut where it just fits", async () => {
    expect((await callWhole({ ...saying("abcdefgh"), maxOutputTokens: 2 })).finishReason).toBe("stop");
  });

  test("empty where there is none", async () => {
    const silent = { ...saying(""), chat: { messages: [{ role: "system", content: "Say nothing" }] } };
    expect((await callWhole(silent)).message.content).toBe("");
    expect(await readAll(await callStream(silent))).toMatchObject({ text: "", finishReasons: ["stop"], last: "end" });
  });
});

describe("a forced tool is called with its required properties in their zero values", () => {
  const parameters = {
    type: "object",
    required: ["city", "days", "exact", "tags", "where"],
    properties: {
      city: { type: "string" },
      days: { type: "integer" },
      exact: { type: ["boolean", "null"] },
      tags: { type: "array" },
      where: { type: "object", required: ["lat"], properties: { lat: { type: "number" }, note: { type: "string" } } },
      unused: { type: "string" },
    },
  };
  const tools = [
    { type: "function", function: { name: "other" } },
    { type: "function", function: { name: "weather", parameters } },
  ];
  const wanted = { city: "", days: 0, exact: false, tags: [], where: { lat: 0 } };
  const named = { tools, tool_choice: { type: "function", function: { name: "weather" } } };

  test("whole", async () => {
    const { message, finishReason } = await callWhole(saying("What weather?", named));
    expect(finishReason).toBe("tool_calls");
    expect(message).toMatchObject({ content: null, tool_calls: [{ type: "function", function: { name: "weather" } }] });
    expect(message["tool_calls"]).toMatchObject([{ function: { arguments: JSON.stringify(wanted) } }]);
  });

  test("streamed", async () => {
    const transcript = await readAll(await callStream(saying("What weather?", named)));
    expect(transcript.toolCalls).toMatchObject([{ name: "weather", arguments: JSON.stringify(wanted) }]);
    expect(transcript.finishReasons).toEqual(["tool_calls"]);
  });

  test("the first one where any is required", async () => {
    const transcript = await readAll(await callStream(saying("x", { tools, tool_choice: "required" })));
    expect(transcript.toolCalls).toMatchObject([{ name: "other", arguments: "{}" }]);
  });

  test("and none where none is forced", async () => {
    expect((await callWhole(saying("plain", { tools, tool_choice: "auto" }))).message.content).toBe("plain");
  });
});

describe("a message `sandbox: …` commands", () => {
  test.each([
    [400, "upstream_rejected"],
    [401, "upstream_auth"],
    [404, "upstream_rejected"],
    [429, "upstream_rate_limited"],
    [500, "upstream_error"],
    [599, "upstream_error"],
  ])("status=%p", async (status, code) => {
    for (const streamed of [false, true]) {
      const failure = await failureOf(callAnything(streamed, saying(`sandbox: status=${status}`)));
      expect(failure.code as string).toBe(code);
    }
  });

  test("tokens=N: that many output tokens", async () => {
    expect((await callWhole(saying("sandbox: tokens=7"))).usage).toMatchObject({ completionTokens: 7 });
    expect((await readAll(await callStream(saying("sandbox: tokens=7")))).usage).toMatchObject({ completionTokens: 7 });
    expect(await callWhole(saying("sandbox: tokens=51"))).toMatchObject({
      finishReason: "length",
      usage: { completionTokens: 50 },
    });
  });

  test("usage=IN,OUT: that usage, and no_usage: none", async () => {
    expect((await callWhole(saying("sandbox: usage=1000,2000"))).usage).toMatchObject({
      promptTokens: 1_000,
      completionTokens: 2_000,
    });
    expect((await callWhole(saying("sandbox: no_usage tokens=3"))).usage).toBeNull();
    expect((await readAll(await callStream(saying("sandbox: no_usage tokens=3")))).usage).toBeNull();
  });

  test("break_after=N: the connection breaks after N events", async () => {
    const transcript = await readAll(await callStream(saying("sandbox: tokens=9 break_after=3")));
    expect(transcript.text).toBe("tok tok tok ");
    expect(transcript.failure?.code).toBe("upstream_error");
    expect((await readAll(await callStream(saying("sandbox: break_after=0")))).failure?.code).toBe("upstream_error");
    expect((await failureOf(callWhole(saying("sandbox: break_after=3")))).code).toBe("upstream_error");
  });

  test("delay_ms=N: before the first event and before a whole answer", async () => {
    const clock = new ManualClock();
    const context = { clock, clocks };
    const whole = callWhole({ ...saying("sandbox: delay_ms=5000"), context });
    const events = await callStream({ ...saying("sandbox: delay_ms=5000"), context });
    let shown = 0;
    void whole.then(() => shown++);
    const first = events.next().then(() => shown++);
    await clock.pass(4_999);
    expect(shown).toBe(0);
    await clock.pass(1);
    await first;
    await whole;
    expect(shown).toBe(2);
  });

  test("gap_ms=N: between two events", async () => {
    const clock = new ManualClock();
    const events = await callStream({ ...saying("sandbox: gap_ms=100 tokens=3"), context: { clock, clocks } });
    await events.next();
    let shown = 0;
    const second = events.next().then(() => shown++);
    await clock.pass(99);
    expect(shown).toBe(0);
    await clock.pass(1);
    await second;
    expect(shown).toBe(1);
  });

  test("silent: nothing, until the clocks end it", async () => {
    const clock = new ManualClock();
    const context = { clock, clocks };
    const whole = failureOf(callWhole({ ...saying("sandbox: silent"), context }));
    const events = await callStream({ ...saying("sandbox: silent"), context });
    const event = events.next();
    await clock.pass(clocks.firstByteMs);
    expect(await event).toMatchObject({ kind: "failure", failure: { code: "upstream_timeout" } });
    await clock.pass(clocks.streamMs - clocks.firstByteMs);
    expect((await whole).code).toBe("upstream_timeout");
  });

  test("several at once", async () => {
    const transcript = await readAll(await callStream(saying("sandbox: tokens=2 usage=7,8")));
    expect(transcript).toMatchObject({ text: "tok tok ", usage: { promptTokens: 7, completionTokens: 8 } });
  });

  test.each([
    "sandbox: sttus=500",
    "sandbox: status=200",
    "sandbox: tokens=",
    "sandbox: tokens=-1",
    "sandbox: usage=5",
    "sandbox: tokens=1,2",
  ])("and a command that cannot be read is rejected: %p", async (text) =>
    expect((await failureOf(callWhole(saying(text)))).code).toBe("upstream_rejected"),
  );
});

describe("the sandbox is a provider like any other", () => {
  test("it never writes ahead of its reader", async () => {
    const clock = new ManualClock();
    const body = JSON.stringify({
      model: "echo",
      stream: true,
      messages: [{ role: "user", content: "sandbox: tokens=40 gap_ms=10" }],
    });
    const url = new URL("http://sandbox.invalid/chat/completions");
    const call = sandboxOf(clock).post(url, { headers: {}, body });
    await call.head();
    await nextBytes(call);
    await settled();
    expect(clock.pending).toBe(0);
    call.end(new Error("enough"));
  });

  test("a stream that is cancelled stops, and leaves no timer", async () => {
    const clock = new ManualClock();
    const events = await callStream({ ...saying("sandbox: gap_ms=1000 tokens=40"), context: { clock, clocks } });
    await events.next();
    const waiting = events.next();
    await events.cancel();
    expect(await waiting).toBeNull();
    await settled();
    expect(clock.pending).toBe(0);
  });

  test("a call that is given up ends at once", async () => {
    const givenUp = new StopSignal();
    const clock = new ManualClock();
    const call = failureOf(callWhole({ ...saying("sandbox: delay_ms=60000"), context: { clock, clocks, givenUp } }));
    await settled();
    givenUp.stop();
    expect((await call).code).toBe("upstream_error");
    await settled();
    expect(clock.pending).toBe(0);
  });
});
