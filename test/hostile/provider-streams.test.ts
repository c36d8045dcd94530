/** Whatever a provider writes into a stream, the client gets only Weir's own lines: `data: <JSON>`, comments, `[DONE]`. */
import { beforeAll, describe, expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import { usageOf as resources } from "../../bench/processes/usage.ts";
import { upstreamAnswerBytesMax, upstreamEventBytesMax } from "../../src/gateway/limits.ts";
import { post, stageApart, type Stage } from "../gateway/api/request/bad-input/stage.ts";
import { chat, chunk, rawStream, usageOf, type StubAnswer } from "../support/providers/stub-answers.ts";
import { Dice } from "./bodies/dice.ts";

const rounds = 150;
const mebibyte = 1024 * 1024;

let on: Stage;
let key = "";
let memoryBefore = 0;
const memory = (): number => resources(on.fleet.gateways[0]?.process.pid ?? 0).residentBytes;
beforeAll(async () => {
  on = await stageApart();
  ({ key } = await on.customer());
  memoryBefore = memory();
}, 60_000);

async function ask(answer: StubAnswer, streamed = true): Promise<{ status: number; text: string }> {
  on.stub.answer(answer);
  const request = { model: "stub/model", messages: [{ role: "user", content: "Hello" }], stream: streamed };
  const response = await post(on, key, JSON.stringify(request));
  const text = new TextDecoder("utf-8", { fatal: true }).decode(await response.arrayBuffer());
  on.stub.answer(chat("Hello from the stub"));
  return { status: response.status, text };
}

const nasty = [
  "\r",
  "\n",
  "\r\n\r\n",
  "data: [DONE]\n\n",
  'data: {"error":{"message":"x"}}\n\n',
  "\n\nevent: error\nid: 7\nretry: 1\n",
  ": comment\n",
  "\0",
  "\u2028\u2029\u0085",
  "\ufeff",
  "é😀\u{10ffff}",
  "</script>",
  '"\\',
  "plain",
] as const;
const lineEnds = ["\n", "\r\n", "\r"] as const;
const between = ["id: 7", "retry: 0", "event: error", ": data: x", "data", "nonsense", "data-x: {}", " data: {}"] as const;

/** Writes one event in one of the forms that the standard allows. */
function written(value: Record<string, unknown>, dice: Dice): string {
  const end = dice.pick(lineEnds);
  const json = JSON.stringify({ ...value, system_fingerprint: dice.pick(nasty), extra: dice.pick(nasty) }, null, dice.below(2));
  const data = json.split("\n").map((line) => `data:${dice.pick(["", " "])}${line}`);
  const stray = dice.list(2, () => dice.pick(between)).filter((line) => line !== "data");
  return [...stray, ...data, "", ""].join(end);
}

/** Splits the bytes into chunks of any size, down to single bytes, even within characters. */
function cut(text: string, dice: Dice): Uint8Array[] {
  const bytes = Buffer.from(text);
  const sizeMax = dice.pick([1, 3, 50, 10_000]);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = 1 + dice.below(sizeMax);
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

/** @throws when a line is not one of Weir's */
function contentOf(text: string): string {
  expect(text).toEndWith("data: [DONE]\n\n");
  expect(text).not.toMatch(/\r/);
  const events = text
    .slice(0, -"data: [DONE]\n\n".length)
    .replaceAll(/^: [^\n]*\n/gm, "")
    .split("\n\n")
    .slice(0, -1);
  for (const event of events) expect(event).toMatch(/^data: \{[^\n]*\}$/);
  const chunks = events.map((event) => JSON.parse(event.slice(6)));
  for (const one of chunks)
    expect(Object.keys(one)).toEqual(expect.arrayContaining(["id", "object", "created", "model", "choices"]));
  return chunks.map((one) => one.choices[0]?.delta.content ?? "").join("");
}

test.each([1, crypto.getRandomValues(new Uint32Array(1))[0] ?? 0])(
  `${rounds} streams full of line ends, fields and cuts arrive complete: seed %p`,
  async (seed) => {
    for (let round = 0; round < rounds; round++) {
      const dice = new Dice(seed + round * 7_919);
      const texts = dice.list(8, () => dice.list(3, () => dice.pick(nasty)).join(""));
      const chunks = [...texts.map((content) => chunk({ content })), chunk({}, "stop"), { choices: [], usage: usageOf(9, 4) }];
      const text = `${chunks.map((one) => written(one, dice)).join("")}data: [DONE]\n\n`;
      const { status, text: seen } = await ask(rawStream(...cut(text, dice)));
      expect([round, status]).toEqual([round, 200]);
      expect([round, contentOf(seen)]).toEqual([round, texts.join("")]);
    }
  },
  60_000,
);

test.each([
  ["a byte that never occurs in UTF-8", Buffer.of(0xff), "\ufffd"],
  ["half a character", Buffer.from("😀").subarray(0, 2), "\ufffd"],
  ["half of a surrogate pair, in UTF-8", Buffer.of(0xed, 0xa0, 0xbd), "\ufffd\ufffd\ufffd"],
  ["half of a surrogate pair, escaped", Buffer.from("\\ud83d"), "\ud83d"],
])("text with %s arrives as valid UTF-8 and JSON", async (_, bytes, expected) => {
  const [before = "", after = ""] = JSON.stringify(chunk({ content: "a<>b" })).split("<>");
  const event = [Buffer.from(`data: ${before}`), bytes, Buffer.from(`${after}\n\n`)];
  const end = `data: ${JSON.stringify(chunk({}, "stop"))}\n\ndata: [DONE]\n\n`;
  const { text } = await ask(rawStream(...event, end));
  expect(contentOf(text)).toBe(`a${expected}b`);
});

describe("an answer that is far too large is an error, and is not kept in memory", () => {
  const bomb = `data: {"x":"${" ".repeat(128 * mebibyte)}`;
  const zipped = gzipSync(bomb, { level: 1 });
  const packed: [name: string, coding: string, bytes: Uint8Array][] = [
    // Eight gzip members, one after another: a gigabyte.
    ["1 GiB", "gzip", Buffer.concat(Array.from({ length: 8 }, () => zipped))],
    ["128 MiB", "br", brotliCompressSync(bomb, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
    ["128 MiB", "zstd", zstdCompressSync(bomb)],
  ];
  const answers: [string, boolean, StubAnswer][] = [
    ["an event without an end", true, rawStream(`data: {"x":"${"x".repeat(upstreamEventBytesMax)}"}\n\n`)],
    ["a comment without an end", true, rawStream(`: ${"x".repeat(upstreamEventBytesMax)}`)],
    ["an answer beyond its bound", false, rawStream(" ".repeat(upstreamAnswerBytesMax + 1))],
    ...packed.flatMap(([size, coding, bytes]): [string, boolean, StubAnswer][] => {
      const answer: StubAnswer = (response) =>
        void response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": coding }).end(bytes);
      return [
        [`an event of ${size} in ${bytes.length} bytes of ${coding}`, true, answer],
        [`an answer of ${size} in ${bytes.length} bytes of ${coding}`, false, answer],
      ];
    }),
  ];

  let memoryMost = 0;

  test.each(answers)("%s (streamed: %p)", async (_, streamed, answer) => {
    const { status, text } = await ask(answer, streamed);
    memoryMost = Math.max(memoryMost, memory());
    expect([status, JSON.parse(text).error.code]).toEqual([502, "upstream_error"]);
  });

  test("the process never grew by the size of the largest of them", () => {
    expect((memoryMost - memoryBefore) / mebibyte).toBeLessThan(1_024);
  });
});
